/* Wire: messages as bytes, what all families have in common. An envelope says in whose name a body
 * is, to whom, and of which run; an announcement says what a run is, and its digest is in every
 * envelope, so that nobody takes part in another run than the one it agreed to. The schemas are
 * src/wire/envelope.proto and announcement.proto; a family's bodies have a header of their own
 * (tacit/wire_elim.h). No I/O. */
#ifndef TACIT_WIRE_H
#define TACIT_WIRE_H
#include "tacit/base.h"

/* The newest version of messages that this program speaks, and the oldest: the one before, where it
 * differs. A change of any message's form is a new version (docs/adr/0065). A test builds the next
 * one. */
#ifndef TACIT_WIRE_VERSION
#define TACIT_WIRE_VERSION 3u
#define TACIT_WIRE_VERSION_OLDEST 3u
#endif
#define TACIT_WIRE_BYTES_MAX (1u << 24)
#define TACIT_WIRE_NAME_BYTES_MAX 64u
#define TACIT_WIRE_RUN_BYTES 16u
#define TACIT_WIRE_DIGEST_BYTES 32u
#define TACIT_WIRE_SIGNATURE_BYTES 64u
#define TACIT_WIRE_COORDINATOR "coordinator" /* the name of the hub */

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Where a codec takes memory from: who needs some takes it as the last argument. Nothing else here
 * allocates, and the library links nothing but the cores: the heap is only reached through
 * tacit_wire_heap. */
struct tacit_wire_allocator {
    void *(*allocate)(void *context, size_t size); /* 8-byte aligned; NULL: there is none */
    void (*release)(void *context, void *block);   /* back; never NULL */
    void *context;
};

/* malloc and free: what a codec makes is to be given to free(). Cost: O(1). */
const struct tacit_wire_allocator *tacit_wire_heap(void);

/* A block of the caller's. Only what was taken last can be given back, one after the other; the
 * rest comes back when the arena is begun anew, which ends what codecs made in it. */
struct tacit_wire_arena {
    struct tacit_wire_allocator allocator; /* to be handed to a codec */
    uint8_t *block;
    size_t size;
    size_t used; /* 0: it is empty again */
    size_t last; /* of what was taken last; internal */
    size_t peak; /* most that was used */
};

/* So much is enough for one call with a message or an announcement of `size` bytes, in a run of
 * this size. Tested by: tests/unit/wire.c. */
#define TACIT_WIRE_ARENA_BYTES(size, arm_count, agent_count)                                       \
    (512u + 18u * (size_t)(size) + 24u * (size_t)(arm_count) + (size_t)(agent_count))

/* Ensures: an empty arena. It must not move while it is used. Requires: an 8-byte aligned block.
 * Cost: O(1). */
void tacit_wire_arena_init(struct tacit_wire_arena *arena, void *block, size_t size);

/* ---- Messages of all protocols --------------------------------------------------------------- */

/* A message as a table of its fields (src/wire/walk.h). What it describes is the struct that the
 * cores have of it, to which the functions below are given a pointer. */
struct tacit_wire_table;

/* Sizes of a run, which its messages depend on; and of what is read, to whom it came: that is the
 * envelope's to say, and never in the message. */
struct tacit_wire_shape {
    uint32_t arm_count;
    uint32_t agent_count;
    uint32_t dimension; /* of contexts, or of a model; 0: there are none */
    uint32_t to;        /* agent, TACIT_EVERYONE or TACIT_HUB */
};

/* Bytes that tacit_wire_encode writes, without an envelope. shape: NULL: there are no such sizes.
 * Cost: O(fields), and O(A/64) with a set of agents. */
size_t tacit_wire_bytes(const struct tacit_wire_table *table, const struct tacit_wire_shape *shape,
                        const void *message);

/* Requires: a message of this shape; tacit_wire_bytes of room, at most TACIT_WIRE_BYTES_MAX.
 * Ensures: exactly that many bytes are written. Cost: O(bytes). */
void tacit_wire_encode(const struct tacit_wire_table *table, const struct tacit_wire_shape *shape,
                       const void *message, uint8_t *bytes);

/* message: where a pointer to the struct is. On TACIT_OK it points to one block of the allocator's,
 * with all that it points to. Errors: TACIT_MALFORMED (another version or form, missing or extra
 * parts, sizes other than the shape's, numbers out of their limits or not finite, trailing bytes),
 * TACIT_MEMORY; it is untouched. Cost: O(size). */
enum tacit_status tacit_wire_decode(const struct tacit_wire_table *table,
                                    const struct tacit_wire_shape *shape, const uint8_t *bytes,
                                    size_t size, void *message,
                                    const struct tacit_wire_allocator *allocator);

/* What stands in a message of any protocol beside what it says. */
struct tacit_wire_label {
    uint32_t from;
    uint32_t to;
    uint32_t kind;  /* as an envelope calls it: from 1 */
    uint32_t epoch; /* the protocol's word for a round; 0 where it has none */
};

/* Requires: a table of such messages. Cost: O(1). */
struct tacit_wire_label tacit_wire_label(const struct tacit_wire_table *table, const void *message);

/* A protocol on the wire. What it adds to an announcement is in the struct of its runs: members
 * that all sites share are its parameters, those of a site alone its place. */
struct tacit_wire_protocol {
    const char *name; /* its name */
    uint32_t family;  /* its number */
    uint32_t version;
    const struct tacit_wire_table *messages;
    const struct tacit_wire_table *parameters;
    const struct tacit_wire_table *place; /* NULL: there is none */
    size_t run_size;                      /* of the struct, which begins with its head */
};

/* What every announcement says of a run, as cores need it. */
#define TACIT_WIRE_RUN_MEMBERS                                                                     \
    uint64_t run_id;                                                                               \
    uint64_t horizon;                                                                              \
    uint64_t epsilon_nano; /* per reward, or what the protocol's is of; 0: none */                 \
    uint32_t agent;                                                                                \
    uint32_t agent_count;                                                                          \
    uint32_t arm_count;                                                                            \
    uint32_t floor_milli; /* tacit/bounds.h: TACIT_ONE_AGGREGATOR, .. */
struct tacit_wire_run {
    TACIT_WIRE_RUN_MEMBERS
};
#define TACIT_WIRE_RUN_HEAD                                                                        \
    union {                                                                                        \
        struct tacit_wire_run head;                                                                \
        struct {                                                                                   \
            TACIT_WIRE_RUN_MEMBERS                                                                 \
        };                                                                                         \
    };

/* ---- Runs ------------------------------------------------------------------------------------ */

/* The run that the cores call `run_id`, in the 128 bits that the wire has room for. */
void tacit_wire_run(uint64_t run_id, uint8_t run[TACIT_WIRE_RUN_BYTES]);

/* What the cores call it: its low 64 bits. */
uint64_t tacit_wire_run_id(const uint8_t run[TACIT_WIRE_RUN_BYTES]);

/* ---- Envelope -------------------------------------------------------------------------------- */

#define TACIT_WIRE_KIND_ANNOUNCEMENT 0u
#define TACIT_WIRE_KIND_ENTRY UINT32_MAX /* of the coordinator's chain, or shown by a site */

struct tacit_wire_envelope {
    uint32_t version; /* TACIT_WIRE_VERSION_OLDEST to TACIT_WIRE_VERSION */
    uint32_t family;
    uint32_t kind; /* TACIT_WIRE_KIND_ANNOUNCEMENT, _ENTRY, or the family's own */
    char federation[TACIT_WIRE_NAME_BYTES_MAX + 1];
    uint8_t run[TACIT_WIRE_RUN_BYTES];
    uint8_t agreement[TACIT_WIRE_DIGEST_BYTES];
    char from[TACIT_WIRE_NAME_BYTES_MAX + 1];
    char to[TACIT_WIRE_NAME_BYTES_MAX + 1]; /* empty: everybody */
    uint64_t term;                          /* from 1 */
    uint32_t epoch;
    uint64_t sequence;
    uint64_t entry; /* of the coordinator's chain, the newest that the sender knows; 0: none */
    const uint8_t *body;
    size_t body_size;
    bool is_signed;
    uint8_t signature[TACIT_WIRE_SIGNATURE_BYTES];
};

/* At most so many bytes are around a body. */
#define TACIT_WIRE_ENVELOPE_BYTES_MAX 400u

/* Bytes that …_encode writes. Cost: O(1). */
size_t tacit_wire_envelope_bytes(const struct tacit_wire_envelope *envelope);

/* Requires: a version that is spoken, names that are names, a term; …_bytes of room, at most
 * TACIT_WIRE_BYTES_MAX. Ensures: exactly that many bytes are written. Cost: O(body). */
void tacit_wire_envelope_encode(const struct tacit_wire_envelope *envelope, uint8_t *bytes);

/* Where the signature of an encoded envelope begins, which are its last bytes: what is signed is
 * all that comes before its field. 0: there is none of TACIT_WIRE_SIGNATURE_BYTES bytes. */
size_t tacit_wire_envelope_signature(const uint8_t *bytes, size_t size);
#define TACIT_WIRE_SIGNATURE_FIELD_BYTES (2u + TACIT_WIRE_SIGNATURE_BYTES)

/* The version that these bytes say they are of, whether it is spoken here or not; 0: they say none.
 * Cost: O(1). */
uint32_t tacit_wire_envelope_version(const uint8_t *bytes, size_t size);

/* On TACIT_OK envelope->body points into `bytes`. Errors: TACIT_MALFORMED (another form or version,
 * names that are none, no term), TACIT_MEMORY; *envelope untouched. Cost: O(size). */
enum tacit_status tacit_wire_envelope_decode(const uint8_t *bytes, size_t size,
                                             struct tacit_wire_envelope *envelope);

/* ---- Announcement ---------------------------------------------------------------------------- */

/* Everything public that both sides must agree on. */
struct tacit_wire_agreement {
    uint8_t run[TACIT_WIRE_RUN_BYTES];
    const char *protocol; /* its word: 1 to 64 of a-z 0-9 - */
    uint32_t family;
    uint32_t protocol_version;
    uint32_t agent_count;
    uint32_t arm_count;
    const char *const *arms; /* names in order: 1 to 64 bytes of UTF-8, no control characters */
    double lo;               /* public range of a reward, lo < hi */
    double hi;
    uint64_t horizon;
    uint64_t epsilon_nano; /* per reward; 0: none */
    const uint8_t *parameters;
    size_t parameters_size;
    bool has_helper;     /* two aggregators (tacit/helper.h): sums carry their noise, .. */
    uint64_t floor_nano; /* .. and this much of the site's own; 0: none */
};

/* That of an agreement as schedules have it (tacit/bounds.h). */
uint32_t tacit_wire_floor_milli(bool has_helper, uint64_t floor_nano);

/* What the hub tells one site about a run. */
struct tacit_wire_announcement {
    struct tacit_wire_agreement agreement;
    uint32_t agent;
    const uint8_t *place;
    size_t place_size;
    const struct tacit_wire_sealing *sealing; /* two aggregators; else NULL */
};

/* What sites of a run seal to the helper with, and the helper's word for it. */
struct tacit_wire_sealing {
    uint8_t identity[32]; /* Ed25519: pinned by its fingerprint in each site's own file */
    uint8_t key[32];      /* X25519: of this run alone */
    uint8_t signature[TACIT_WIRE_SIGNATURE_BYTES];
};

/* Whom a site of a network meets, as its place in an announcement says. */
struct tacit_wire_neighbour {
    uint32_t agent;
    const char *site; /* its name: 1 to 64 of A-Z a-z 0-9 _ - */
};

/* Is it 1 to 64 bytes of UTF-8 without control characters? */
bool tacit_wire_is_arm_name(const char *text);

/* Of struct tacit_wire_announcement. Requires, of what is encoded: names that are names, an agent
 * that is one of the agreement's. */
extern const struct tacit_wire_table tacit_wire_announcement;

/* The run that an announcement speaks of, into the protocol's struct; what it points to is one
 * block of the allocator's, which begins where its first pointer points to. Errors: TACIT_MALFORMED
 * (another protocol or version of it, numbers out of their limits, a place that cannot be),
 * TACIT_MEMORY; *run untouched. */
enum tacit_status tacit_wire_run_decode(const struct tacit_wire_protocol *protocol,
                                        const struct tacit_wire_announcement *announcement,
                                        void *run, const struct tacit_wire_allocator *allocator);

/* SHA-256 of the agreement as it is encoded. Errors: TACIT_MEMORY. */
enum tacit_status tacit_wire_agreement_digest(const struct tacit_wire_agreement *agreement,
                                              uint8_t digest[TACIT_WIRE_DIGEST_BYTES],
                                              const struct tacit_wire_allocator *allocator);

/* Do both say the same? If not, text says what differs first, in words: "arm 2 is called 'b' here
 * and 'c' there". What `here` has no word in is left out: zero horizon, epsilon_nano or
 * agent_count, no parameters, a run of zeros. Ensures: text is UTF-8 of less than `size` bytes.
 * Requires: size >= TACIT_WIRE_DIFFERENCE_BYTES. */
#define TACIT_WIRE_DIFFERENCE_BYTES 256u
bool tacit_wire_agreement_differs(const struct tacit_wire_agreement *here,
                                  const struct tacit_wire_agreement *there, char *text,
                                  size_t size);
#endif
