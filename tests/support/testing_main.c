/* For programs of tests that have no main of their own: PROGRAM [NAME, or a pattern of names] */
#include "testing.h"

int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return testing_ended(argc, testing_run(NULL, NULL));
}
