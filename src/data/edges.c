/* Edges of a graph from a list. Only reads and checks them; topo makes the graph. */
#include "tacit/data.h"
#include "internal.h"
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t"
#define RULE "an edge is two different agents, like 0,1"

/* Reads a whole number, blanks around it allowed; *rest is what follows. Numbers that are too long
 * count as very large ones. */
static bool parse_agent(const char *text, uint64_t *agent, const char **rest)
{
    text += strspn(text, BLANKS);
    size_t const digits = strspn(text, "0123456789");
    *agent = digits > 18 ? UINT64_MAX : strtoull(text, NULL, 10);
    *rest = text + digits + strspn(text + digits, BLANKS);
    return digits > 0;
}

/* The two agents of a row: in two fields, or in one with blanks between them. */
static bool parse_pair(const struct tacit_table *table, uint32_t row, uint64_t pair[2])
{
    char **const fields = table->fields + (size_t)row * table->column_count;
    const char *rest;
    if (!parse_agent(fields[0], &pair[0], &rest))
        return false;
    if (table->column_count == 2) {
        if (*rest != '\0')
            return false;
        rest = fields[1];
    }
    return parse_agent(rest, &pair[1], &rest) && *rest == '\0';
}

static enum tacit_status read_pair(struct tacit_edge *edge, const struct tacit_table *table,
                                   uint32_t row, const char *path, uint32_t agent_count,
                                   struct tacit_error *error)
{
    TACIT_ASSERT(row < table->row_count);
    uint32_t const line = table->lines[row];
    char **const fields = table->fields + (size_t)row * table->column_count;
    uint64_t pair[2];
    if (table->column_count > 2 || !parse_pair(table, row, pair))
        return data_fail(error, TACIT_INVALID, path, line, "not an edge; %s", RULE);
    if (pair[0] >= agent_count || pair[1] >= agent_count)
        return data_fail(
            error, TACIT_INVALID, path, line, "'%s' is out of range; agents are numbered 0 to %u",
            data_shown_value(fields[table->column_count == 2 && pair[0] < agent_count]).text,
            agent_count - 1);
    if (pair[0] == pair[1])
        return data_fail(error, TACIT_INVALID, path, line, "joins agent %llu with itself; %s",
                         (unsigned long long)pair[0], RULE);
    *edge = (struct tacit_edge){(uint32_t)pair[0], (uint32_t)pair[1]};
    return TACIT_OK;
}

static enum tacit_status read_pairs(struct tacit_edge *edges, const struct tacit_table *table,
                                    const char *path, uint32_t agent_count,
                                    struct tacit_error *error)
{
    for (uint32_t row = 0; row < table->row_count; row++)
        TACIT_TRY(read_pair(&edges[row], table, row, path, agent_count, error));
    return TACIT_OK;
}

enum tacit_status tacit_edges_read(struct tacit_edges *edges, const char *path,
                                   uint32_t agent_count, struct tacit_error *error)
{
    TACIT_ASSERT(agent_count > 0);
    struct tacit_table table;
    TACIT_TRY(data_table_read_ruled(&table, path, RULE, error));
    struct tacit_edge *const items = malloc((table.row_count + (size_t)1) * sizeof *items);
    enum tacit_status status = items == NULL ? data_fail_memory(error, path)
                                             : read_pairs(items, &table, path, agent_count, error);
    if (status == TACIT_OK)
        *edges = (struct tacit_edges){.items = items, .count = table.row_count};
    else
        free(items);
    tacit_table_free(&table);
    return status;
}

void tacit_edges_free(struct tacit_edges *edges)
{
    free(edges->items);
    *edges = (struct tacit_edges){0};
}
