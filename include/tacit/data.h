/* Data: finds data sets and reads tables: CSV, plain or packed (.xz, .gz); arm means; logged rows.
 */
#ifndef TACIT_DATA_H
#define TACIT_DATA_H
#include "tacit/base.h"
#include "tacit/env.h"
#include "tacit/off_policy.h"
#include "tacit/random.h"
#include "tacit/topo.h"

/* ---- Tables ---------------------------------------------------------------------------------- */

/* A CSV file in memory: row_count x column_count fields, each NUL-terminated. */
struct tacit_table {
    char *bytes;
    char **fields;
    uint32_t *lines; /* line of each row in the file, from 1 */
    uint32_t row_count;
    uint32_t column_count;
    char separator; /* what stands between its fields */
};

enum tacit_encoding { TACIT_ENCODING_UTF8, TACIT_ENCODING_CP1252, TACIT_ENCODING_LATIN1 };

/* How a table is written. */
struct tacit_dialect {
    char separator; /* 0: a comma; a semicolon or a tab where the first row has it and no comma */
    enum tacit_encoding encoding;
};

/* tacit_table_read of a table that is written otherwise, and behind whose first row # begins no
 * comment: names may begin so. Ensures: fields are UTF-8. Errors: also TACIT_INVALID for bytes that
 * are not of the encoding. */
enum tacit_status tacit_table_read_dialect(struct tacit_table *table, const char *path,
                                           const struct tacit_dialect *dialect,
                                           struct tacit_error *error);

/* Reads RFC 4180 (quotes, CRLF), plain, or packed if the name ends in .xz or .gz. Lines that are
 * empty or begin with # are passed over. All rows must have the same number of fields. Errors:
 * TACIT_IO, TACIT_MEMORY, TACIT_INVALID, with error->text = "path:line: what is wrong". */
enum tacit_status tacit_table_read(struct tacit_table *table, const char *path,
                                   struct tacit_error *error);
void tacit_table_free(struct tacit_table *table);

/* Index of a column by the name in row 0, or UINT32_MAX. */
uint32_t tacit_table_column(const struct tacit_table *table, const char *name);

/* ---- Arm means ------------------------------------------------------------------------------- */

/* A matrix of means: a CSV without a header, one row (all agents alike) or one row an agent, one
 * column an arm. */
struct tacit_means {
    double *values; /* row_count x arm_count */
    uint32_t row_count;
    uint32_t arm_count;
};

/* Requires: every field is a finite number in [lo, hi]; TACIT_ARMS_MAX columns at most.
 * Errors: as tacit_table_read; the message names line, column, value and what is allowed. */
enum tacit_status tacit_means_read(struct tacit_means *means, const char *path, double lo,
                                   double hi, struct tacit_error *error);
void tacit_means_free(struct tacit_means *means);

/* ---- Edges ----------------------------------------------------------------------------------- */

/* Edges of a graph, as they are listed. */
struct tacit_edges {
    struct tacit_edge *items;
    uint64_t count;
};

/* Reads one edge a line: two different agents, numbered from 0, with a comma or blanks between
 * them. Lines that are empty or begin with # are passed over; a file of these alone has no edges.
 * Errors: as tacit_table_read; also an agent >= agent_count. */
enum tacit_status tacit_edges_read(struct tacit_edges *edges, const char *path,
                                   uint32_t agent_count, struct tacit_error *error);
void tacit_edges_free(struct tacit_edges *edges);

/* ---- Logged rows ----------------------------------------------------------------------------- */

enum tacit_log_match {
    TACIT_LOG_MATCH_ANY, /* at least one of the columns holds the value */
    TACIT_LOG_MATCH_ALL  /* every one of the columns holds the value */
};

/* Which rows are pulls of an arm. A row may count in several arms, or in none. */
struct tacit_log_arm {
    const char *name;
    enum tacit_log_match match;
    const char *const *columns;
    uint32_t column_count;
    const char *value;
};

enum tacit_log_split {
    TACIT_LOG_BY_COLUMN,  /* the agent column says whose row it is */
    TACIT_LOG_SEQUENTIAL, /* equal parts in file order: shows local bias */
    TACIT_LOG_RANDOM      /* equal parts at random */
};

/* What an empty cell (nothing, or blanks) means. A row in which agent, arm or reward is missing is
 * left out and counted, unless a word stands in for it here. */
struct tacit_log_missing {
    bool is_refused; /* a row with a missing cell is an error */
    const char *agent;
    const char *arm;
    const char *reward;
};

struct tacit_log_spec {
    struct tacit_log_missing missing;
    char decimal; /* of rewards; 0: a point; a comma where semicolons separate and no reward has a
                     point */
    const struct tacit_log_arm
        *arms; /* NULL: the values of arm_column are the arms, in sorted order */
    uint32_t arm_count;
    const char *arm_column;
    const char *reward_column;
    const char
        *reward_value; /* reward 1 iff the column holds this value; NULL: the column is a number */
    bool reward_differs; /* with a value: reward 0 iff the column holds it */
    enum tacit_log_split split;
    const char *agent_column; /* BY_COLUMN: its values are the agents, in sorted order */
    uint32_t agent_count;
    bool is_uniform;               /* every arm was as likely in every row: its propensity is 1/K */
    const char *propensity_column; /* or a column of them; NULL: they are not known. With either,
                                      the arms are those of arm_column */
    const char *time_column;       /* when each row was logged; NULL: nothing says it */
    const char *const *columns;    /* whose fields are kept, for rows with propensities */
    uint32_t column_count;
    const char *unit_column; /* whose reward it is; NULL: nobody asks */
};

#define TACIT_WEEKDAYS 7u

/* The rows as they were logged, in the order of the file. */
struct tacit_log_rows {
    uint32_t *agents; /* of each row; NULL: propensities are not known */
    uint32_t *arms;
    double *rewards;
    double *propensities; /* from 1e-100 to 1 */
    uint32_t *lines;      /* of the file */
    char *bytes;          /* of the fields that are kept */
    const char **fields;  /* row i's column c: [i column_count + c] */
    uint32_t column_count;
    char decimal;
};

/* Where a column says the propensities: a row weighs 1/propensity, so that the rows of an arm stand
 * for all rows of their agent. Uniform ones weigh alike, and there is nothing here. */
struct tacit_log_weights {
    double *keep; /* of each reward, by tacit_env_weigh; NULL: rows weigh alike */
    uint32_t *other;
    double *errors; /* A x K: standard errors of the means; NaN: of one row */
};

/* The different rewards of each cell, ascending: cell c owns values[start[c]] up to, and without,
 * values[start[c+1]]; upto[i] is the share of the draws, in a unit of the cell's, that bring
 * values[i] or a smaller one. */
struct tacit_log_gathered {
    uint32_t *start; /* A*K + 1; NULL: nobody gathered them */
    double *values;
    double *upto;
};

/* The rewards of each cell (agent, arm), as env wants them: cell c = agent*K + arm owns
 * rewards[start[c]] up to, and without, rewards[start[c+1]]. */
struct tacit_log {
    uint32_t agent_count;
    uint32_t arm_count;
    char **arm_names;       /* K */
    char **agent_names;     /* A; NULL: agents are parts of the file */
    uint32_t row_count;     /* rows that were looked at for arms */
    uint32_t without_agent; /* rows left out, and why: the first reason of each */
    uint32_t without_arm;
    uint32_t without_reward;
    uint32_t of_no_arm; /* rows that no arm counts */
    uint32_t *start;    /* A*K + 1 */
    double *rewards;
    double *means; /* A x K averages; with weights the self-normalised ones (off_policy.h) */
    bool binary;   /* all rewards are 0 or 1 */
    struct tacit_log_rows rows; /* row_count of each, where propensities are known */
    struct tacit_log_weights weights;
    struct tacit_log_gathered gathered;
    /* Rows on a Monday to on a Sunday, on average from the first day of all rows to the last, of
     * the agent that has the fewest; all 0: no column says when rows were logged. */
    double traffic[TACIT_WEEKDAYS];
    uint32_t *units;       /* whose each reward is, counted agent by agent; NULL: nobody asks */
    uint32_t unit_count;   /* a person who comes to two agents is two units */
    uint32_t units_fewest; /* in a cell */
};

/* Splits the table over agents and arms. With n rows, agent i of A gets the rows (in file order, or
 * shuffled by `rng`) from floor(n i / A) up to floor(n (i+1) / A) (READINGS P2.10). `rng` is used
 * by TACIT_LOG_RANDOM only. Errors: TACIT_INVALID (unknown column, reward that is no finite number,
 * cell without rows, more or fewer agents than asked,
 * a value that no row holds), TACIT_MEMORY; error->text names the file,
 * and the line where there is one. */
enum tacit_status tacit_log_build(struct tacit_log *log, const struct tacit_table *table,
                                  const char *path, const struct tacit_log_spec *spec,
                                  struct tacit_rng *rng, struct tacit_error *error);
void tacit_log_free(struct tacit_log *log);

/* The rows as its estimates take them: sites are cells. */
struct tacit_off_policy_log tacit_log_off_policy(const struct tacit_log *log);

/* A field that was kept as a number, written as the rewards are. False: it is none. */
bool tacit_log_number(const struct tacit_log_rows *rows, uint32_t row, uint32_t column,
                      double *value);

/* Fills log->gathered. Requires: a log that was built, once. Errors: TACIT_MEMORY (the log is as
 * before). Cost: O(n log n) for n rows. */
enum tacit_status tacit_log_gather(struct tacit_log *log);

/* Days that `slots` take where so many come on each weekday, from Monday, begun on the weekday from
 * which it takes longest. Requires: slots >= 0; a sum above 0. Cost: O(1). */
double tacit_traffic_days(const double traffic[TACIT_WEEKDAYS], double slots);

/* Are there two names that differ in the case of letters or in blanks only, which people take for
 * one? Fills `pair` with their places. Letters: ASCII's and Latin-1's. False also where memory is
 * short: it is asked for a warning. Cost: O(n log n). */
bool tacit_names_alike(const char *const *names, uint32_t count, uint32_t pair[2]);

/* ---- Logged contexts --------------------------------------------------------------------------
 */

/* A table: beside a file that names it, in a data directory, or in a tar archive there
 * ("movielens/ml-latest-small.tar/ml-latest-small/ratings.csv"), plain or packed. `beside`: path of
 * the file, or NULL. Errors: TACIT_IO (it is nowhere), and as tacit_table_read. */
enum tacit_status tacit_table_find(struct tacit_table *table, const char *beside, const char *name,
                                   const struct tacit_dialect *dialect, struct tacit_error *error);

/* Texts about items: a row of `table` has an item and a text, or the key of a text in another
 * table. */
struct tacit_context_text {
    const char *table;
    const char *item; /* columns */
    const char *text;
    const char *names; /* a table of texts, or NULL */
    const char *names_key;
    const char *names_text;
};

/* Who chose what, and how it was liked; vectors of items come from a table or from texts. */
struct tacit_context_spec {
    const char *beside; /* path of the file that says this */
    const char *folder; /* before each table's name; "" */
    struct tacit_dialect dialect;
    uint32_t agent_count; /* the most active ones; equally active: who comes first */
    uint32_t dimension;
    uint32_t arm_count;
    const char *table; /* a row a decision */
    const char *agent; /* columns */
    const char *item;
    const char *value;
    bool has_above;
    double
        above; /* reward 1 iff the value is above this, else 0; without: the value is the reward */
    const char *time; /* a number; NULL: rows have no order */
    const struct tacit_context_text *texts;
    uint32_t text_count; /* 0: vectors are columns of item_table */
    const char *item_table;
    const char *item_column;
    /* Offers instead: a row an arm, the rows of a decision together; columns agent and value as
     * above. */
    const char *decision;
    const char *const *features; /* dimension columns */
    bool is_standardised;        /* then: each coordinate to mean 0 and variance 1 over the items */
    bool has_constant;           /* and a further coordinate, which is 1 */
};

/* As env wants it, with what it came from. */
struct tacit_context_data {
    struct tacit_context_log log;
    uint64_t read_count;  /* rows of the table */
    uint32_t agents_seen; /* in it */
    uint32_t word_count;
    uint32_t
        blank_count; /* items whose texts have no direction; they and their rows are left out */
    void *memory[5];
};

/* Reads it all. Ensures: on TACIT_OK to be given to tacit_context_data_free.
 * Errors: TACIT_IO (a table is nowhere), TACIT_INVALID (columns, numbers, vectors longer than 1,
 * fewer agents or words than asked, an agent to whom there is too little else to offer),
 * TACIT_MEMORY; with error->text. */
enum tacit_status tacit_context_data_read(struct tacit_context_data *data,
                                          const struct tacit_context_spec *spec,
                                          struct tacit_error *error);
void tacit_context_data_free(struct tacit_context_data *data);

/* ---- Images with labels ---------------------------------------------------------------------- */

/* `count` images of channels x height x width bytes, and the class of each. */
struct tacit_images {
    uint32_t count;
    uint32_t channels;
    uint32_t height;
    uint32_t width;
    uint8_t *pixels;
    uint8_t *labels;
};

/* Reads a pair of IDX files (LeCun's layout: 3 dimensions of bytes, and 1), plain or packed.
 * Errors: TACIT_IO, TACIT_MEMORY, TACIT_INVALID (another magic number, sizes that do not fit the
 * bytes or each other, a label above 9), with error->text = "path: what is wrong"; *images
 * untouched. */
enum tacit_status tacit_images_read_idx(struct tacit_images *images, const char *image_path,
                                        const char *label_path, struct tacit_error *error);

/* Reads files in the binary layout of CIFAR-10 (Krizhevsky 2009: a label, then 3 x 32 x 32 bytes),
 * one after the other, plain or packed. Errors: as above. */
enum tacit_status tacit_images_read_cifar10(struct tacit_images *images, const char *const *paths,
                                            uint32_t path_count, struct tacit_error *error);
void tacit_images_free(struct tacit_images *images);

/* ---- Data sets ------------------------------------------------------------------------------- */

#define TACIT_PATH_BYTES 4096u

struct tacit_dataset {
    const char *name;    /* folder */
    const char *content; /* one line */
    const char *terms;
    const char *const *files; /* NULL-terminated, relative to the folder */
};

/* The data sets tacit knows about; *count of them. Static storage. */
const struct tacit_dataset *tacit_dataset_list(size_t *count);

/* Path of what a file calls `name` ("diabetes130/diabetic_data.csv"), or of the same with .xz or
 * .gz: in the folder of the file `beside`, if that is not NULL, else in the first of $TACIT_DATA
 * and
 * ~/.local/share/tacit that has it. Errors: TACIT_IO if none has; *path untouched. */
enum tacit_status tacit_dataset_find(const char *beside, const char *name,
                                     char path[TACIT_PATH_BYTES]);

/* Does the file have the sha256 that SHA256SUMS, in the data directory, states for it?
 * Errors: TACIT_IO (missing file or sums, with text), TACIT_INVALID (another sum, with text). */
enum tacit_status tacit_dataset_verify(const char *directory, const char *relative,
                                       struct tacit_error *error);

/* The data directories in order of search, as text separated by ':'; for messages. */
void tacit_dataset_directories(char directories[TACIT_PATH_BYTES]);
#endif
