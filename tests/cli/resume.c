/* Long runs that are interrupted, or killed without a word, and go on: what they print and write in
 * the end is byte for byte that of an uninterrupted call, and nothing of another call is taken. */
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../support/effort.h"
#include "../support/testing.h"
#include "../support/on_file.h"
#include "../support/process.h"
#include "../support/temp.h"

static const char text[] = "name: long\n"
                           "seed: 5\n"
                           "runs: 500\n"
                           "horizon: 1500\n"
                           "agents: 20\n"
                           "checkpoints: 10\n"
                           "environment: {kind: bernoulli, generated: {arms: 10}}\n"
                           "network: {kind: ring}\n"
                           "protocol: {kind: gossip-ucb}\n"
                           "privacy: {mode: sound, epsilon: 1}\n";

static char file[TEMP_PATH_BYTES];
static char kept[TEMP_PATH_BYTES];
static const char *input; /* the same file, handed over; or NULL */

static int open_folder(void **state)
{
    temp_directory_make(temp_folder);
    input = NULL;
    temp_path(file, temp_folder, "long.yaml");
    temp_path(kept, temp_folder, "kept.runs");
    temp_file_write(temp_folder, "long.yaml", text);
    return 0;
}

static char *read_file(const char *path, size_t *size)
{
    FILE *const in = fopen(path, "rb");
    if (in == NULL)
        fail_msg("no %s", path);
    assert_int_equal(fseek(in, 0, SEEK_END), 0);
    *size = (size_t)ftell(in);
    rewind(in);
    char *const bytes = testing_calloc(1, *size + 1);
    assert_int_equal(fread(bytes, 1, *size, in), *size);
    assert_int_equal(fclose(in), 0);
    return bytes;
}

/* tacit run FILE --json --out OUT [--resume KEPT]; stopped, or killed, when it has kept runs. */
enum call { CALL_WHOLE, CALL_STOPPED, CALL_KILLED };

static struct process_result call(const char *out, bool keeps, enum call how)
{
    struct process_plan const plan = {.input = input,
                                      .interrupt_when = how == CALL_WHOLE ? NULL : kept,
                                      .kills = how == CALL_KILLED};
    return process_tacit_run(plan, PROCESS_WORDS("run", input == NULL ? file : "-", "--json",
                                                 "--out", out, keeps ? "--resume" : NULL, kept));
}

static bool is_kept(void)
{
    return access(kept, F_OK) == 0;
}

/* "tacit run: stopped; N of ..." */
static long finished_of(const char *err)
{
    char const *const at = strstr(err, "stopped; ");
    return at == NULL ? -1 : strtol(at + strlen("stopped; "), NULL, 10);
}

TEST_WITH(an_interrupted_run_goes_on_and_ends_as_if_nothing_had_been, open_folder,
          temp_folder_remove)
{
    char first[TEMP_PATH_BYTES];
    char second[TEMP_PATH_BYTES];
    temp_path(first, temp_folder, "first");
    temp_path(second, temp_folder, "second");
    struct process_result whole = call(first, false, CALL_WHOLE);
    assert_int_equal(whole.code, 0);
    long last = 0;
    for (uint32_t i = 0; i < 6; i++) {
        bool const is_kill = i % 2 == 1;
        struct process_result result = call(second, true, is_kill ? CALL_KILLED : CALL_STOPPED);
        assert_int_equal(result.code, is_kill ? 128 + SIGKILL : 130);
        assert_true(is_kill || finished_of(result.err) > last); /* nothing is lost */
        last = is_kill ? last : finished_of(result.err);
        assert_true(is_kept());
    }
    struct process_result end = call(second, true, CALL_WHOLE);
    assert_int_equal(end.code, 0);
    assert_string_equal(end.out, whole.out);
    static const char *const names[] = {"summary.json", "runs.csv", "curve.csv"};
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(on_file_text(first, names[i]), on_file_text(second, names[i]));
    assert_false(is_kept()); /* it has done its work */
}

static void assert_refused(const char *why)
{
    char out[TEMP_PATH_BYTES];
    temp_path(out, temp_folder, "refused");
    assert_string_equal(PROCESS_EXPECT(call(out, true, CALL_WHOLE), 2, why), "");
}

/* Leaves a file of kept runs. */
static void leave_some(void)
{
    char out[TEMP_PATH_BYTES];
    temp_path(out, temp_folder, "some");
    struct process_result result = call(out, true, CALL_STOPPED);
    assert_int_equal(result.code, 130);
    assert_true(is_kept());
}

TEST_WITH(what_another_call_kept_is_refused_in_words, open_folder, temp_folder_remove)
{
    size_t size;
    leave_some();
    char *const bytes = read_file(kept, &size);
    char changed[sizeof text];
    memcpy(changed, text, sizeof text);
    *strstr(changed, "seed: 5") = '#'; /* a comment: the seed is that which goes without saying */
    temp_file_write(temp_folder, "long.yaml", changed);
    assert_refused("kept.runs has runs of another file, setting, data or version of the program");
    temp_file_write(temp_folder, "long.yaml", text);
    bytes[size - 1] = (char)(bytes[size - 1] ^ 1); /* of a run: whose runs they are stands before */
    temp_file_write_bytes(temp_folder, "kept.runs", bytes, size);
    assert_refused("kept.runs is damaged");
    bytes[size - 1] = (char)(bytes[size - 1] ^ 1);
    temp_file_write_bytes(temp_folder, "kept.runs", bytes, size - 1);
    assert_refused("kept.runs is damaged");
    temp_file_write(temp_folder, "kept.runs", "something else");
    assert_refused("kept.runs is no file of kept runs");
}

TEST_WITH(runs_of_another_standard_input_are_refused, open_folder, temp_folder_remove)
{
    char changed[sizeof text];
    memcpy(changed, text, sizeof text);
    *strchr(changed, '5') = '6'; /* the seed */
    temp_file_write(temp_folder, "other.yaml", changed);
    input = file;
    leave_some();
    temp_file_write(temp_folder, "long.yaml", changed);
    assert_refused("kept.runs has runs of another file, setting, data or version of the program");
    temp_file_write(temp_folder, "long.yaml", text);
    assert_int_equal(call(temp_folder, true, CALL_WHOLE).code, 0);
}

/* Writes the trace into a pipe, for who reads it once. */
static void hand_over(const char *trace)
{
    char path[TEMP_PATH_BYTES];
    temp_path(path, temp_folder, "measured.csv");
    if (fork() != 0)
        return;
    FILE *const out = fopen(path, "w");
    bool const is_written = out != NULL && fputs(trace, out) >= 0 && fclose(out) == 0;
    _exit(is_written ? 0 : 1);
}

/* Whatever key names it. */
TEST_WITH(runs_of_another_trace_are_refused, open_folder, temp_folder_remove)
{
    char path[TEMP_PATH_BYTES];
    temp_path(path, temp_folder, "measured.csv");
    temp_file_write(temp_folder, "measured.csv", "1,2,3,4\n2,1,4,3\n");
    temp_file_write(temp_folder, "long.yaml",
                    "name: long\nruns: 20000\nhorizon: 600\nagents: 4\n"
                    "environment: {kind: latency, source: trace, trace: measured.csv}\n"
                    "network: {kind: star}\n"
                    "protocol: {kind: select, selector: exact, users_per_round: 2}\n"
                    "privacy: {mode: none}\n");
    leave_some();
    temp_file_write(temp_folder, "measured.csv", "1,2,3,4\n2,1,4,5\n");
    assert_refused("kept.runs has runs of another file, setting, data or version of the program");
    assert_int_equal(unlink(kept), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, S_IRUSR | S_IWUSR), 0);
    hand_over("1,2,3,4\n2,1,4,3\n");
    leave_some();
    hand_over("1,2,3,4\n2,1,4,5\n");
    assert_refused("kept.runs has runs of another file, setting, data or version of the program");
}

#if !EFFORT_IS_SANITIZED
TEST_WITH(memory_that_is_missing_is_said, open_folder, temp_folder_remove)
{
    char line[3 * TEMP_PATH_BYTES];
    temp_file_write(temp_folder, "long.yaml",
                    "name: wide\nruns: 1\nhorizon: 400000\nagents: 100000\ncheckpoints: 2\n"
                    "network: {kind: hybrid, components: [{kind: ring, agents: 100000}]}\n"
                    "environment: {kind: bernoulli, generated: {arms: 3}}\n"
                    "protocol: {kind: elimination}\nprivacy: {mode: none}\n");
    (void)snprintf(line, sizeof line, "ulimit -v 2000000 && exec '%s' run '%s' --quiet",
                   process_tacit(), file);
    const char *const words[] = {"/bin/sh", "-c", line, NULL};
    struct process_plan const plan = {.arguments = words};
    struct process_result result = process_run(&plan);
    assert_int_equal(result.code, 1);
    char const *const about =
        strstr(result.err, "out of memory: runs of 100000 agents need about ");
    assert_non_null(about);
    double const megabytes = strtod(strstr(about, "about ") + 6, NULL);
    assert_true(megabytes > 4 * 1e10 / 8 / 1e6); /* four sets of all agents at each agent */
    assert_true(megabytes < 1.5 * 4 * 1e10 / 8 / 1e6);
}
#endif
