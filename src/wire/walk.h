/* A message as a table of its fields, straight onto the struct that the cores have of it, and the
 * one walk along such tables: how long a message is, its bytes, and back. Only what our schemas
 * use, and only one form: fields in the order of their numbers, each at most once, numbers packed,
 * lengths in as few bytes as will do, nothing unknown, nothing after the end (decision 52). */
#ifndef TACIT_WIRE_WALK_H
#define TACIT_WIRE_WALK_H
#include <stddef.h>
#include "tacit/wire.h"

/* What fields of a run's messages are as many as. Whoever walks a table that names one says it. */
enum wire_size {
    WIRE_ONE,
    WIRE_ARMS,
    WIRE_AGENTS,
    WIRE_TO,         /* to whom it came: not the number of anything */
    WIRE_NUMBERS,    /* of a context */
    WIRE_TRIANGLE,   /* of a matrix over these */
    WIRE_REGRESSION, /* such a triangle and a vector: what a regression adds up */
    WIRE_SIZES
};

enum wire_kind {
    WIRE_VERSION, /* fixed32: always `most`; the struct does not have it */
    WIRE_NUMBER,  /* fixed32 or fixed64; of a bool 0 or 1 */
    WIRE_KIND,    /* fixed32: one more than the member */
    WIRE_TWICE,   /* fixed32: twice the member, and 1 if the flag is set that `counted` names */
    WIRE_REAL,    /* double: finite */
    WIRE_EMPTY,   /* bytes: of none, and the struct does not have it */
    WIRE_BYTES,   /* bytes: elements of `width` */
    WIRE_ROW,     /* packed numbers of 4 or 8 bytes; of none the field is not there */
    WIRE_REALS,   /* packed doubles: finite, the room a whole number of four */
    WIRE_MATRIX,  /* packed doubles: the upper triangle of a matrix of tacit/linalg.h */
    WIRE_SET,     /* bytes: bit k of byte k/8, lowest first; whole words */
    WIRE_SPAN,    /* fixed32 and, under the next number, bytes: the part of a set that is not 0 */
    WIRE_NAME,    /* string: an array of TACIT_WIRE_NAME_BYTES_MAX + 1 characters */
    WIRE_TEXT,    /* string: a pointer */
    WIRE_BLOB,    /* bytes, of any number: a pointer, and the count that `counted` names */
    WIRE_PARTS    /* messages, or one, whose table is `inner` */
};

/* A member: where it is, and its bytes. */
struct wire_member {
    uint16_t at;
    uint16_t size;
};

#define WIRE_ABSENT SIZE_MAX

/* A field is there if the member `when` is not zero (a pointer, a flag, a number). It has as many
 * elements as `counted` says, else as `per`; or, what is no single number, as `rule` says of all
 * that (WIRE_ABSENT: it is not there). When it is read, a flag `when` is set, and what is counted
 * is noted. */
struct wire_field {
    uint8_t number;
    uint8_t kind;
    uint8_t per;   /* enum wire_size */
    uint8_t below; /* of numbers: less than that size; WIRE_ONE: any */
    bool or_none;  /* of numbers: UINT32_MAX, too */
    uint16_t width;
    uint16_t stride;           /* from an element to the next, in what `via` points to */
    uint16_t via;              /* where the pointer to the elements is; 0: they are in the struct */
    struct wire_member member; /* of the struct, or of an element */
    struct wire_member when;   /* size 0: always */
    struct wire_member counted;
    struct wire_member apart; /* not 0: elements lie in a table of all agents, and its rows so far
                               * apart (of numbers; else each is a row): those of the set `rows` */
    uint16_t rows;
    uint64_t least; /* of numbers; of a blob its bytes, of texts, messages and bytes how many */
    uint64_t most;  /* 0: no limit */
    size_t (*rule)(const void *message, const uint32_t sizes[WIRE_SIZES]);
    bool (*is_text)(const char *text); /* of texts that a pointer points to; NULL: any */
    const struct tacit_wire_table *inner;
};

struct tacit_wire_table {
    const char *name; /* in the schema */
    const struct wire_field *fields;
    size_t field_count;
    size_t size; /* of the struct */
    /* What a label says (size 0: nothing); `to` is said by who reads the message (WIRE_TO). */
    struct wire_member from;
    struct wire_member to;
    struct wire_member kind;
    struct wire_member epoch;
    uint32_t first_kind;
    /* Can it be, all fields read? May fill in members that follow from others. NULL: any. */
    bool (*check)(void *message);
    bool (*fits)(void *message, const uint32_t sizes[WIRE_SIZES]); /* .. in this run? */
    /* One more field by the kind, the first's has the number WIRE_BODY: a message of the same
     * struct. */
    const struct tacit_wire_table *const *bodies;
    uint32_t body_count;
};
#define WIRE_BODY 16u

/* ---- Tables: of the struct that the macro MESSAGE names -------------------------------------- *
 *
 * A line of a table is a line of the schema: the field's number, the member that it is of, and what
 * has to hold for it. The examples are of elim.c, beside elim.proto:
 *
 *     NUMBER(2, pulls, ANY)                     required fixed64 pulls = 2;    the member `pulls`
 *     NUMBER(6, leader, IF(leader))             optional fixed32 leader = 6;   there unless it is 0
 *     FLAG(1, last)                             required fixed32 last = 1;     a bool
 *     SET(3, arms, PER(WIRE_ARMS))              required bytes arms = 3;       a set of arms
 *     ROW(3, sums, COUNT(sum_count))            repeated sfixed64 sums = 3;    `sum_count` numbers
 *     PARTS(7, changes, change_table, COUNT(change_count))
 *                                               repeated ElimChange changes = 7;
 *     EACH(6, WIRE_BYTES, commit, struct tacit_commit, salt, RULE(opens))
 *                                               optional bytes salt = 6;       commit->salt, if
 *                                                                              opens() says so
 */

#define WIRE_AT(member) ((uint16_t)offsetof(MESSAGE, member))
#define WIRE_OF(member) (((MESSAGE *)0)->member) /* for its type and its size: never read */
#define WIRE_PLACE(member)                                                                         \
    {                                                                                              \
        WIRE_AT(member), sizeof WIRE_OF(member)                                                    \
    }

/* What has to hold for a field, behind its member: as many of these as are wanted. */
#define ANY .most = 0                         /* of a number, a blob: nothing */
#define FROM(value) .least = (value)          /* a number is at least that; of lists: so many */
#define UP_TO(value) .most = (value)          /* .. and at most */
#define BELOW(size) .below = (size)           /* a number is below the run's size */
#define OR_NONE .or_none = true               /* .. or all ones: the hub, nobody */
#define ALWAYS .when = {0, 0}                 /* the field is always there, as without this; .. */
#define IF(member) .when = WIRE_PLACE(member) /* .. it is there where this member is not 0; .. */
#define RULE(function) .rule = (function)     /* .. the function says how many there are, if any */
#define PER(size) .per = (size)               /* one for each of the run's size */
#define COUNT(member) .counted = WIRE_PLACE(member) /* so many as this member says */
#define OF(function) .is_text = (function)          /* of texts: the function takes them */

/* clang-format off */
/* Of the schema alone: a version, which is always this one; bytes, of which there are none. */
#define VERSION(n, version) {.number = (n), .kind = WIRE_VERSION, .width = 4, .most = (version)}
#define EMPTY(n) {.number = (n), .kind = WIRE_EMPTY}
/* A member by itself. A number is as wide as it: of 8 bytes fixed64, of a double double, else
 * fixed32. */
#define FIELD(n, what, name, ...)                                                                  \
    {.number = (n), .kind = (what), .member = WIRE_PLACE(name), .width = sizeof WIRE_OF(name),     \
     __VA_ARGS__}
#define NUMBER(n, name, ...)                                                                       \
    {.number = (n), .kind = _Generic(WIRE_OF(name), double: WIRE_REAL, default: WIRE_NUMBER),      \
     .member = WIRE_PLACE(name), .width = sizeof WIRE_OF(name) == 8 ? 8 : 4, __VA_ARGS__}
#define KIND(n, name, ...)                                                                         \
    {.number = (n), .kind = WIRE_KIND, .member = WIRE_PLACE(name), .width = 4, __VA_ARGS__}
#define FLAG(n, name) NUMBER(n, name, UP_TO(1))
#define BYTES(n, name, ...) FIELD(n, WIRE_BYTES, name, __VA_ARGS__)
/* Elements of `size` bytes, all of what a pointer points to: its name is the member's. */
#define POINTED(n, what, pointer, size, ...)                                                       \
    {.number = (n), .kind = (what), .via = WIRE_AT(pointer), .width = (size),                      \
     .stride = sizeof *WIRE_OF(pointer), __VA_ARGS__}
#define ROW(n, pointer, ...)                                                                       \
    POINTED(n, _Generic(WIRE_OF(pointer), const double *: WIRE_REALS, default: WIRE_ROW), pointer, \
            sizeof *WIRE_OF(pointer), __VA_ARGS__)
#define SET(n, pointer, ...) POINTED(n, WIRE_SET, pointer, 8, __VA_ARGS__)
#define SPAN(n, pointer, ...) POINTED(n, WIRE_SPAN, pointer, 4, __VA_ARGS__)
#define TEXTS(n, pointer, ...) POINTED(n, WIRE_TEXT, pointer, 0, __VA_ARGS__)
#define PARTS(n, pointer, table, ...)                                                              \
    POINTED(n, WIRE_PARTS, pointer, 0, .inner = &(table), __VA_ARGS__)
#define BLOB(n, pointer, count, ...)                                                               \
    POINTED(n, WIRE_BLOB, pointer, 0, COUNT(count), __VA_ARGS__)
/* Of each element that a pointer points to, which are of this type, one member. */
#define EACH(n, what, pointer, type, name, ...)                                                    \
    {.number = (n), .kind = (what), .via = WIRE_AT(pointer), .stride = sizeof(type),               \
     .member = {offsetof(type, name), sizeof(((type *)0)->name)},                                  \
     .width = sizeof(((type *)0)->name), __VA_ARGS__}
/* A message within the struct, with a table of its own. */
#define PART(n, name, table)                                                                       \
    {.number = (n), .kind = WIRE_PARTS, .member = {WIRE_AT(name), 0}, .inner = &(table)}

/* What a table is made of: its name in the schema, and these. */
#define TABLE(message, ...) {.name = (message), .size = sizeof(MESSAGE), __VA_ARGS__}
/* clang-format on */
#define FIELDS(array) .fields = (array), .field_count = sizeof(array) / sizeof(array)[0]
#define BODIES(array, first)                                                                       \
    .bodies = (array), .body_count = sizeof(array) / sizeof(array)[0], .first_kind = (first)
/* A message of the same struct within; function: the check of it, or NULL; or what fits a run. */
#define BODY(message, array, function)                                                             \
    &(const struct tacit_wire_table)TABLE(message, FIELDS(array), .check = (function))
#define SIZED_BODY(message, array, function)                                                       \
    &(const struct tacit_wire_table)TABLE(message, FIELDS(array), .fits = (function))
/* Members that a label says, of these names. */
#define LABEL .from = WIRE_PLACE(from), .to = WIRE_PLACE(to), .kind = WIRE_PLACE(kind)
#define EPOCH(name) .epoch = WIRE_PLACE(name)
/* Rows of a table of all agents, of which those of the set `origins` are said. */
#define IN_TABLE .apart = WIRE_PLACE(row_stride), .rows = WIRE_AT(origins)

/* What sites ask and hubs answer in rounds with grants (tacit/round.h). */
#define GRANTED(n, name) EACH(n, WIRE_BYTES, commit, struct tacit_commit, name, ALWAYS)
#define MASKED(n, name) EACH(n, WIRE_BYTES, masked, struct tacit_helper_release, name, IF(masked))
#define WIRE_ROUND_FIELDS                                                                          \
    static const struct wire_field commit[] = {GRANTED(1, commitment), GRANTED(2, previous)};      \
    static const struct wire_field grant[] = {GRANTED(1, commitment), FLAG(2, closed)};            \
    static const struct wire_field refusal[] = {GRANTED(1, commitment), EMPTY(2), FLAG(3, forgot)};
/* What messages begin with that belong to rounds. */
#define WIRE_HEAD(version, epoch, ...)                                                             \
    static const struct wire_field head[] = {                                                      \
        VERSION(1, version), NUMBER(2, from, BELOW(WIRE_AGENTS), OR_NONE), NUMBER(3, run_id, ANY), \
        NUMBER(4, epoch, __VA_ARGS__)};

/* `messages` of such a head, whose kinds begin with `first`. check: NULL, or its function. */
#define WIRE_MESSAGES(its_name, NAME, first, its_epoch, function, ...)                             \
    WIRE_HEAD(TACIT_WIRE_##NAME##_VERSION, its_epoch, __VA_ARGS__)                                 \
    static const struct tacit_wire_table messages =                                                \
        TABLE(its_name, FIELDS(head), BODIES(bodies, first), LABEL, EPOCH(its_epoch),              \
              .check = (function));

/* A protocol whose runs are structs as MESSAGE says, with such a table `parameters`. */
#define PROTOCOL(its_name, NAME, its_messages, its_place)                                          \
    const struct tacit_wire_protocol tacit_wire_##its_name = {                                     \
        .name = TACIT_WIRE_##NAME##_NAME,                                                          \
        .family = TACIT_WIRE_##NAME##_FAMILY,                                                      \
        .version = TACIT_WIRE_##NAME##_VERSION,                                                    \
        .messages = &(its_messages),                                                               \
        .parameters = &parameters,                                                                 \
        .place = (its_place),                                                                      \
        .run_size = sizeof(MESSAGE)}

/* 1 to 64 of these characters; of A-Z a-z 0-9 _ - */
bool wire_is_of(const char *text, const char *characters);
bool wire_is_name(const char *text);

/* Whom a site meets: ascending, and others of this run. */
extern const struct tacit_wire_table wire_neighbours;
bool wire_are_neighbours(const struct tacit_wire_neighbour *neighbours, uint32_t count,
                         uint32_t agent, uint32_t agent_count);

/* Of elimination, whose messages have a file of their own. */
extern const struct tacit_wire_table wire_elim_messages;

/* ---- The walk ---------------------------------------------------------------------------------
 */

/* A length, and so many bytes. */
size_t wire_part_bytes(size_t content);

/* Reads into a struct of zeros that points to nothing but `bytes`. False: another form, or what
 * cannot be; *message is spoilt then. Cost: O(size). */
bool wire_read(const struct tacit_wire_table *table, const uint8_t *bytes, size_t size,
               void *message);

/* Messages that make one struct together, each from its bytes. */
struct wire_part {
    const struct tacit_wire_table *table; /* NULL: there is no such one */
    const uint8_t *bytes;
    size_t size;
};
struct wire_parts {
    struct wire_part parts[2];
    size_t size;                       /* of the struct */
    const struct tacit_wire_run *head; /* which it begins with; NULL: with zeros */
};

/* Without a head, as tacit_wire_decode; with one, as tacit_wire_run_decode. */
enum tacit_status wire_build(const struct wire_parts *parts, const struct tacit_wire_shape *shape,
                             void *message, const struct tacit_wire_allocator *allocator);
#endif
