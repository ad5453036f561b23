/* examples/device as it would stand in the field: three boards that are processes, bytes in and
 * out, and a hub core between them. Messages are lost, and one board loses its power; they decide
 * all the same, for the right arm, and what a board reads that makes no sense does not move it. */
#include "../support/wire_shape.h"
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../support/testing.h"
#include "tacit/wire_elim.h"
#include "../support/temp.h"

#define PARAMETERS 47u /* bytes */

#define DEVICES 3u
#define ARMS 3u
#define HORIZON 4000u
#define RUN_ID 77u
#define BYTES_MAX 2048u
#define PATIENCE_S 120

static const char *const names[DEVICES] = {"north", "south", "west"};
static const char *const means[ARMS] = {"0.1", "0.9", "0.2"};
static const char *const arms[ARMS] = {"slow", "steady", "fast"};

struct board {
    pid_t id;
    int in, out, err;
    char file[TEMP_PATH_BYTES];
};

struct field {
    char folder[TEMP_PATH_BYTES];
    struct board boards[DEVICES];
    struct tacit_elim_hub *hub;
    struct tacit_elim_hub_config config;
    struct tacit_wire_envelope mine;
    uint8_t announcements[DEVICES][BYTES_MAX];
    size_t announcement_bytes[DEVICES];
    uint64_t word_count;  /* that were sent either way, .. */
    uint64_t loss_period; /* .. of which each so-many-th is lost; 0: none */
    uint32_t reports;
};

/* ---- Boards ---------------------------------------------------------------------------------- */

static const char *program(void)
{
    const char *const found = getenv("TACIT_DEVICE");
    return found != NULL ? found : "build-test/tests/device_board";
}

static void switch_on(struct field *field, uint32_t i)
{
    struct board *const board = &field->boards[i];
    int in[2], out[2], err[2];
    temp_path(board->file, field->folder, names[i]);
    assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC) | pipe2(err, O_CLOEXEC), 0);
    board->id = fork();
    if (board->id == 0) {
        (void)dup2(in[0], STDIN_FILENO);
        (void)dup2(out[1], STDOUT_FILENO);
        (void)dup2(err[1], STDERR_FILENO);
        (void)execl(program(), program(), names[i], board->file, means[0], means[1], means[2],
                    (char *)NULL);
        _exit(127);
    }
    assert_true(board->id > 0);
    (void)close(in[0]);
    (void)close(out[1]);
    (void)close(err[1]);
    board->in = in[1];
    board->out = out[0];
    board->err = err[0];
}

/* An emulated board ends when it is killed, and nobody counts its pulls. */
static bool is_emulated(void)
{
    return getenv("TACIT_DEVICE_EMULATED") != NULL;
}

static void close_all(struct board *board)
{
    (void)close(board->in);
    (void)close(board->out);
    (void)close(board->err);
}

static void cut_power(struct field *field, uint32_t i)
{
    struct board *const board = &field->boards[i];
    assert_int_equal(kill(board->id, SIGKILL), 0);
    assert_int_equal(waitpid(board->id, NULL, 0), board->id);
    close_all(board);
}

/* The end of stdin ends it: how often was each arm pulled? */
static void switch_off(struct field *field, uint32_t i, unsigned long pulls[ARMS])
{
    struct board *const board = &field->boards[i];
    char text[200] = "";
    int status = -1;
    if (is_emulated()) {
        cut_power(field, i);
        return;
    }
    (void)close(board->in);
    while (read(board->out, text, sizeof text) > 0)
        ;
    ssize_t const size = read(board->err, text, sizeof text - 1);
    assert_true(size > 0);
    text[size] = '\0';
    assert_int_equal(waitpid(board->id, &status, 0), board->id);
    if (status != 0)
        fail_msg("%s: status %d: %s", names[i], status, text);
    assert_int_equal(sscanf(text, "%lu %lu %lu", &pulls[0], &pulls[1], &pulls[2]), 3);
    (void)close(board->out);
    (void)close(board->err);
}

static void send_bytes(const struct board *board, const uint8_t *bytes, size_t size)
{
    uint8_t frame[BYTES_MAX + 2] = {(uint8_t)size, (uint8_t)(size >> 8)};
    assert_true(size <= BYTES_MAX);
    memcpy(frame + 2, bytes, size);
    assert_int_equal(write(board->in, frame, size + 2), (ssize_t)(size + 2));
}

static bool read_all(int file, uint8_t *bytes, size_t size)
{
    for (size_t have = 0; have < size;) {
        ssize_t const more = read(file, bytes + have, size - have);
        if (more <= 0)
            return false;
        have += (size_t)more;
    }
    return true;
}

/* ---- The hub --------------------------------------------------------------------------------- */

static bool is_lost(struct field *field)
{
    field->word_count++;
    return field->loss_period > 0 && field->word_count % field->loss_period == 0;
}

static void say(struct field *field, const struct tacit_elim_message *message)
{
    uint8_t body[BYTES_MAX];
    uint8_t bytes[BYTES_MAX];
    struct tacit_wire_envelope *const mine = &field->mine;
    tacit_wire_encode(WIRE(elim, ARMS, DEVICES), message, body);
    mine->kind = tacit_wire_label(tacit_wire_elim.messages, message).kind;
    mine->epoch = message->epoch;
    mine->body = body;
    mine->body_size = tacit_wire_bytes(WIRE(elim, ARMS, DEVICES), message);
    mine->sequence++;
    for (uint32_t i = 0; i < DEVICES; i++) {
        if (message->to != TACIT_EVERYONE && message->to != i)
            continue;
        bool const is_to_all = message->to == TACIT_EVERYONE;
        (void)snprintf(mine->to, sizeof mine->to, "%s", is_to_all ? "" : names[i]);
        tacit_wire_envelope_encode(mine, bytes);
        if (!is_lost(field))
            send_bytes(&field->boards[i], bytes, tacit_wire_envelope_bytes(mine));
    }
}

static enum tacit_status fill(void *context, void *bytes, size_t size)
{
    memset(bytes, 1, size); /* everybody reports: the hub has nothing to choose */
    return TACIT_OK;
}

static void step(struct field *field, struct tacit_event event)
{
    struct tacit_entropy const entropy = {fill, NULL};
    struct tacit_elim_update update;
    enum tacit_status const status = tacit_elim_hub_step(field->hub, &event, &entropy, &update);
    assert_int_equal(status, TACIT_OK);
    if (update.send)
        say(field, &update.message);
}

static void announce(struct field *field, uint32_t i)
{
    send_bytes(&field->boards[i], field->announcements[i], field->announcement_bytes[i]);
}

static void write_announcement(struct field *field, uint32_t i, uint64_t epsilon_nano)
{
    uint8_t parameters[PARAMETERS];
    uint8_t body[BYTES_MAX];
    struct tacit_wire_elim_run const run = {.report_count = DEVICES, .gap = 1};
    tacit_wire_encode(tacit_wire_elim.parameters, NULL, &run, parameters);
    struct tacit_wire_announcement announcement = {
        .agreement = {.protocol = TACIT_WIRE_ELIM_NAME,
                      .family = TACIT_WIRE_ELIM_FAMILY,
                      .protocol_version = TACIT_WIRE_ELIM_VERSION,
                      .agent_count = DEVICES,
                      .arm_count = ARMS,
                      .arms = arms,
                      .hi = 1,
                      .horizon = HORIZON,
                      .epsilon_nano = epsilon_nano,
                      .parameters = parameters,
                      .parameters_size = sizeof parameters},
        .agent = i};
    tacit_wire_run(RUN_ID, announcement.agreement.run);
    tacit_wire_encode(&tacit_wire_announcement, NULL, &announcement, body);
    assert_int_equal(tacit_wire_agreement_digest(&announcement.agreement, field->mine.agreement,
                                                 tacit_wire_heap()),
                     TACIT_OK);
    memcpy(field->mine.run, announcement.agreement.run, sizeof field->mine.run);
    field->mine.body = body;
    field->mine.body_size = tacit_wire_bytes(&tacit_wire_announcement, NULL, &announcement);
    field->mine.kind = TACIT_WIRE_KIND_ANNOUNCEMENT;
    (void)snprintf(field->mine.to, sizeof field->mine.to, "%s", names[i]);
    field->announcement_bytes[i] = tacit_wire_envelope_bytes(&field->mine);
    assert_true(field->announcement_bytes[i] <= BYTES_MAX);
    tacit_wire_envelope_encode(&field->mine, field->announcements[i]);
}

static void open_field(struct field *field, uint64_t loss_period, uint64_t epsilon_nano)
{
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, 1, 0, 1};
    *field = (struct field){.loss_period = loss_period};
    temp_directory_make(field->folder);
    field->mine = (struct tacit_wire_envelope){.version = TACIT_WIRE_VERSION,
                                               .federation = "pumps",
                                               .from = TACIT_WIRE_COORDINATOR,
                                               .family = TACIT_WIRE_ELIM_FAMILY,
                                               .term = 1};
    for (uint32_t i = 0; i < DEVICES; i++) {
        write_announcement(field, i, epsilon_nano);
        switch_on(field, i);
    }
    field->config = (struct tacit_elim_hub_config){.run_id = RUN_ID,
                                                   .agent_count = DEVICES,
                                                   .schedule = {.arm_count = ARMS,
                                                                .report_count = DEVICES,
                                                                .horizon = HORIZON,
                                                                .epsilon_per_reward = 1,
                                                                .gap = 1},
                                                   .answers_all = true,
                                                   .has_grants = true};
    tacit_commit_domain("pumps", field->mine.agreement, field->config.domain);
    assert_int_equal(tacit_mechanism_init(&field->config.mechanism, &mechanism), TACIT_OK);
    field->hub = testing_calloc(1, tacit_elim_hub_size(&field->config));
    assert_int_equal(tacit_elim_hub_init(field->hub, &field->config), TACIT_OK);
    for (uint32_t i = 0; i < DEVICES; i++)
        announce(field, i);
    step(field, (struct tacit_event){.kind = TACIT_EVENT_START});
}

static void close_field(struct field *field)
{
    temp_directory_remove(field->folder);
}

static struct tacit_elim_hub_view look(const struct field *field)
{
    struct tacit_elim_hub_view view;
    tacit_elim_hub_view(field->hub, &view);
    return view;
}

static void take(struct field *field, uint32_t i, const uint8_t *bytes, size_t size)
{
    struct tacit_wire_envelope envelope;
    struct tacit_elim_message *message;
    assert_int_equal(tacit_wire_envelope_decode(bytes, size, &envelope), TACIT_OK);
    assert_string_equal(envelope.from, names[i]);
    assert_memory_equal(envelope.agreement, field->mine.agreement, TACIT_WIRE_DIGEST_BYTES);
    assert_int_equal(tacit_wire_decode(WIRE(elim, ARMS, DEVICES, 0, TACIT_HUB), envelope.body,
                                       envelope.body_size, &message, tacit_wire_heap()),
                     TACIT_OK);
    assert_int_equal(tacit_wire_label(tacit_wire_elim.messages, message).kind, envelope.kind);
    assert_int_equal(message->epoch, envelope.epoch);
    assert_int_equal(message->from, i);
    field->reports += message->kind == TACIT_ELIM_REPORT;
    step(field, (struct tacit_event){.kind = TACIT_EVENT_RECEIVE, .as.message = message});
    testing_free(message);
}

/* Hands messages on until the hub has seen so many epochs, or has finished. */
static void run_until(struct field *field, uint32_t epoch)
{
    time_t const end = time(NULL) + PATIENCE_S;
    while (look(field).epoch < epoch && !look(field).finished) {
        struct pollfd files[DEVICES];
        for (uint32_t i = 0; i < DEVICES; i++)
            files[i] = (struct pollfd){.fd = field->boards[i].out, .events = POLLIN};
        if (time(NULL) > end)
            fail_msg("epoch %u after %d s", look(field).epoch, PATIENCE_S);
        if (poll(files, DEVICES, 1000) <= 0)
            continue;
        for (uint32_t i = 0; i < DEVICES; i++) {
            uint8_t length[2];
            uint8_t bytes[BYTES_MAX];
            if ((files[i].revents & POLLIN) == 0)
                continue;
            assert_true(read_all(field->boards[i].out, length, sizeof length));
            size_t const size = (size_t)(length[0] | length[1] << 8);
            assert_true(size <= sizeof bytes && read_all(field->boards[i].out, bytes, size));
            if (!is_lost(field))
                take(field, i, bytes, size);
        }
    }
}

/* It finished with the best arm alone, whose mean it knows. */
static void expect_decision(struct field *field)
{
    struct tacit_elim_hub_view const view = look(field);
    assert_true(view.finished);
    assert_int_equal(view.active_count, 1);
    assert_true(tacit_bits_has(view.arms, 1));
    assert_true(fabs(view.means[1] - 0.9) < 0.15);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

TEST(devices_decide_though_messages_are_lost)
{
    static struct field field;
    open_field(&field, 5, TACIT_NANO);
    run_until(&field, UINT32_MAX);
    expect_decision(&field);
    assert_true(field.reports >= DEVICES * look(&field).round_count);
    for (uint32_t i = 0; i < DEVICES; i++) {
        unsigned long pulls[ARMS];
        switch_off(&field, i, pulls);
        if (!is_emulated())
            assert_true(pulls[1] > 0 && pulls[0] + pulls[1] + pulls[2] <= HORIZON);
    }
    close_field(&field);
}

/* It goes on from what it kept: the hub, which refuses a second draw, flags nobody. */
TEST(a_device_that_loses_its_power_goes_on)
{
    static struct field field;
    open_field(&field, 0, TACIT_NANO);
    run_until(&field, 2);
    for (uint32_t i = 0; i < DEVICES; i++) {
        cut_power(&field, i);
        switch_on(&field, i);
        announce(&field, i);
    }
    run_until(&field, UINT32_MAX);
    expect_decision(&field);
    for (uint32_t i = 0; i < DEVICES; i++) {
        unsigned long pulls[ARMS];
        assert_false(tacit_bits_has(look(&field).flagged, i));
        switch_off(&field, i, pulls);
    }
    close_field(&field);
}

/* Bytes that are no message, a run that reckons with less noise than the device has, and the order
 * of that run: it does not pull. In a run that it allows it does. */
TEST(a_device_takes_no_part_in_what_it_does_not_allow)
{
    static struct field field;
    uint8_t noise[40];
    memset(noise, 0x5a, sizeof noise);
    for (uint64_t excess = 0; excess < 2; excess++) {
        open_field(&field, 0, TACIT_NANO + excess);
        for (uint32_t i = 0; i < DEVICES; i++) {
            unsigned long pulls[ARMS];
            send_bytes(&field.boards[i], noise, sizeof noise);
            switch_off(&field, i, pulls);
            assert_true((pulls[0] + pulls[1] + pulls[2] > 0) == (excess == 0));
        }
        close_field(&field);
    }
}

int main(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    if (is_emulated()) /* a board that forgets, and does not count */
        cmocka_set_test_filter("devices_decide_though_messages_are_lost");
    return testing_run(NULL, NULL);
}
