/* Messages of epoch elimination (elim.proto). */
#include "tacit/wire_elim.h"
#include "walk.h"

#define OPENING_BYTES (2u * TACIT_SHA256_BYTES) /* of a row: what it follows, and its salt */
_Static_assert(offsetof(struct tacit_elim_opening, salt) == TACIT_SHA256_BYTES, "one element");

/* ---- Parts ----------------------------------------------------------------------------------- */

#define MESSAGE struct tacit_elim_change

static const struct wire_field change_fields[] = {
    NUMBER(1, kind, ANY),  NUMBER(2, epoch, ANY),       NUMBER(3, subject, ANY),
    NUMBER(4, value, ANY), NUMBER(5, made_unix_s, ANY),
};
static const struct tacit_wire_table change_table = TABLE("ElimChange", FIELDS(change_fields));

#undef MESSAGE
#define MESSAGE struct tacit_elim_message
#define COMMITTED(n, name, ...) EACH(n, WIRE_BYTES, commit, struct tacit_commit, name, __VA_ARGS__)
#define PROVED(n, what, name, ...) EACH(n, what, proof, struct tacit_elim_proof, name, __VA_ARGS__)
#define REFUSED(n) SET(n, refused, PER(WIRE_ARMS), IF(refused))
/* What its sender holds: the rounds, and one more field. */
#define HISTORY(n)                                                                                 \
    FIELD(n, WIRE_TWICE, history.rounds, COUNT(history.is_last), IF(has_history)),                 \
        BYTES((n) + 1, history.digest, IF(has_history))

/* ---- What else has to hold ------------------------------------------------------------------- */

static bool has_members(const uint64_t *set, uint32_t count)
{
    return tacit_bits_next(set, count, 0) < count;
}

static bool check_refused(void *message, const uint32_t *sizes)
{
    const struct tacit_elim_message *const found = message;
    return found->refused == NULL || has_members(found->refused, sizes[WIRE_ARMS]);
}

/* Whether the changes make sense in this run is for the core to say. */
static bool check_order(void *message, const uint32_t *sizes)
{
    struct tacit_elim_message *const order = message;
    struct tacit_elim_change *const changes = (struct tacit_elim_change *)(uintptr_t)order->changes;
    for (uint32_t i = 0; i < order->change_count; i++)
        changes[i].number = i + 1;
    return order->leader == 0 ||
           (order->leader <= sizes[WIRE_ARMS] && tacit_bits_has(order->arms, order->leader - 1));
}

/* One sum an active arm. */
static bool check_report(void *message, const uint32_t *sizes)
{
    const struct tacit_elim_message *const report = message;
    return report->sum_count > 0 &&
           report->sum_count == tacit_bits_count(report->arms, sizes[WIRE_ARMS]) &&
           report->agents <= sizes[WIRE_AGENTS];
}

static bool check_origins(void *message, const uint32_t *sizes)
{
    const struct tacit_elim_message *const found = message;
    return has_members(found->origins, sizes[WIRE_AGENTS]);
}

/* A confirmation, which has a signature, is of no arms. */
static bool check_data(void *message, const uint32_t *sizes)
{
    struct tacit_elim_message *const data = message;
    if (!check_origins(message, sizes))
        return false;
    data->sum_count = tacit_bits_count(data->arms, sizes[WIRE_ARMS]);
    return data->sum_count > 0 || data->is_signed;
}

/* A report of its sender alone opens its commitment; a total names it. */
static size_t opens(const void *message, const uint32_t *sizes)
{
    const struct tacit_elim_message *const report = message;
    (void)sizes;
    return report->commit != NULL && report->agents <= 1 ? 1 : WIRE_ABSENT;
}

static size_t names(const void *message, const uint32_t *sizes)
{
    bool const has_commit = ((const struct tacit_elim_message *)message)->commit != NULL;
    return has_commit && opens(message, sizes) == WIRE_ABSENT ? 1 : WIRE_ABSENT;
}

static size_t row_sums(const void *message, const uint32_t *sizes)
{
    const struct tacit_elim_message *const data = message;
    size_t const rows = tacit_bits_count(data->origins, sizes[WIRE_AGENTS]);
    return data->sum_count == 0 ? WIRE_ABSENT : rows * data->sum_count;
}

static size_t row_openings(const void *message, const uint32_t *sizes)
{
    const struct tacit_elim_message *const data = message;
    return data->openings == NULL ? WIRE_ABSENT
                                  : tacit_bits_count(data->origins, sizes[WIRE_AGENTS]);
}

/* Of all rows or of none. */
static size_t row_signatures(const void *message, const uint32_t *sizes)
{
    size_t const rows = row_openings(message, sizes);
    return rows == WIRE_ABSENT || ((const struct tacit_elim_message *)message)->is_signed ? rows
                                                                                          : 0;
}

/* ---- Messages -------------------------------------------------------------------------------- */

static const struct wire_field hello[] = {
    SPAN(1, origins, PER(WIRE_AGENTS), IF(origins)),
    COMMITTED(3, commitment, IF(commit)),
    REFUSED(4),
    HISTORY(5),
};
static const struct wire_field order[] = {
    FLAG(1, last),
    NUMBER(2, pulls, ANY),
    SET(3, arms, PER(WIRE_ARMS)),
    SET(4, uploaders, PER(WIRE_AGENTS), IF(uploaders)),
    NUMBER(5, seen, ANY),
    NUMBER(6, leader, IF(leader)),
    PARTS(7, changes, change_table, COUNT(change_count), UP_TO(TACIT_ELIM_CHANGES_MAX)),
};
static const struct wire_field report[] = {
    NUMBER(1, pulls, ANY),
    SET(2, arms, PER(WIRE_ARMS)),
    ROW(3, sums, COUNT(sum_count)),
    NUMBER(4, agents, IF(agents)),
    COMMITTED(5, previous, RULE(opens)),
    COMMITTED(6, salt, RULE(opens)),
    COMMITTED(7, commitment, RULE(names)),
    MASKED(8, envelope),
    MASKED(9, blind),
};
static const struct wire_field advert[] = {SPAN(1, origins, PER(WIRE_AGENTS)), HISTORY(3)};
static const struct wire_field data[] = {
    NUMBER(1, pulls, ANY),
    SET(2, arms, PER(WIRE_ARMS)),
    SPAN(3, origins, PER(WIRE_AGENTS)),
    ROW(5, sums, RULE(row_sums), IN_TABLE),
    POINTED(6, WIRE_BYTES, openings, OPENING_BYTES, RULE(row_openings), IN_TABLE),
    EACH(7, WIRE_BYTES, openings, struct tacit_elim_opening, signature, RULE(row_signatures),
         IF(is_signed), IN_TABLE),
    HISTORY(8),
};
static const struct wire_field commit[] = {
    COMMITTED(1, commitment, ALWAYS),
    COMMITTED(2, previous, ALWAYS),
    REFUSED(3),
};
static const struct wire_field grant[] = {COMMITTED(1, commitment, ALWAYS), FLAG(2, closed)};
static const struct wire_field refusal[] = {COMMITTED(1, commitment, ALWAYS), FLAG(2, forgot)};
static const struct wire_field proof[] = {
    PROVED(1, WIRE_NUMBER, agent, BELOW(WIRE_AGENTS)),
    PROVED(2, WIRE_BYTES, subjects, ALWAYS),
    PROVED(3, WIRE_BYTES, signatures, ALWAYS),
};

static const struct tacit_wire_table *const bodies[] = {
    [TACIT_ELIM_HELLO] = SIZED_BODY("ElimHello", hello, check_refused),
    [TACIT_ELIM_ORDER] = SIZED_BODY("ElimOrder", order, check_order),
    [TACIT_ELIM_REPORT] = SIZED_BODY("ElimReport", report, check_report),
    [TACIT_ELIM_ADVERT] = SIZED_BODY("ElimAdvert", advert, check_origins),
    [TACIT_ELIM_REQUEST] = SIZED_BODY("ElimRequest", advert, check_origins),
    [TACIT_ELIM_DATA] = SIZED_BODY("ElimData", data, check_data),
    [TACIT_ELIM_COMMIT] = SIZED_BODY("ElimCommit", commit, check_refused),
    [TACIT_ELIM_GRANT] = BODY("ElimGrant", grant, NULL),
    [TACIT_ELIM_REFUSAL] = BODY("ElimRefusal", refusal, NULL),
    [TACIT_ELIM_PROOF] = BODY("ElimProof", proof, NULL),
};
WIRE_HEAD(TACIT_WIRE_ELIM_VERSION, epoch, UP_TO(TACIT_ELIM_EPOCHS_MAX))
const struct tacit_wire_table wire_elim_messages =
    TABLE("ElimMessage", FIELDS(head), BODIES(bodies, TACIT_ELIM_HELLO), LABEL, EPOCH(epoch));

/* The fields of the body, then of the message around it: tag and length, then what they hold. An
 * empty message has both, too. */
size_t tacit_wire_elim_rows_bytes(enum tacit_elim_message_kind kind,
                                  const struct tacit_wire_elim_rows *rows, uint32_t arm_count)
{
    size_t const set = TACIT_BITS_WORDS(arm_count) * sizeof(uint64_t);
    size_t const numbers = rows->row_count * rows->sum_count * sizeof(int64_t);
    size_t body = (1 + 4) + 1 + wire_part_bytes(rows->span_bytes);
    TACIT_ASSERT(kind == TACIT_ELIM_ADVERT || kind == TACIT_ELIM_REQUEST ||
                 kind == TACIT_ELIM_DATA);
    if (kind == TACIT_ELIM_DATA) {
        body +=
            (1 + 8) + 1 + wire_part_bytes(set) + (numbers > 0 ? 1 + wire_part_bytes(numbers) : 0);
        if (rows->has_openings)
            body += 1 + wire_part_bytes(rows->row_count * OPENING_BYTES) + 1 +
                    wire_part_bytes(rows->is_signed ? rows->row_count * TACIT_SIGNATURE_BYTES : 0);
    }
    return (1 + 4) + (1 + 4) + (1 + 8) + (1 + 4) + 2 + wire_part_bytes(body);
}
