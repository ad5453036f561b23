/* Status texts. */
#include "tacit/base.h"

const char *tacit_status_text(enum tacit_status status)
{
    switch (status) {
#define X(name, value, text)                                                                       \
    case name:                                                                                     \
        return text;
        TACIT_STATUS_LIST(X)
#undef X
    }
    return "an unknown status";
}
