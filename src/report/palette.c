/* The colours of pages and figures, each once: as variables of a style sheet, and as they are where
 * there is none. Ratios of contrast are tested (tests/cli/pages.py). */
#include "internal.h"

static const struct {
    const char *name;
    const char *light;
    const char *dark;
} palette[REPORT_COLOURS] = {
    [REPORT_PAGE] = {"page", "#f6f7f6", "#12171a"},
    [REPORT_CARD] = {"card", "#ffffff", "#1a2125"},
    [REPORT_INK] = {"ink", "#1b2226", "#e6ebed"},
    [REPORT_SOFT] = {"soft", "#525e65", "#a9b5ba"},
    [REPORT_AXIS] = {"axis", "#7d898f", "#84929a"},
    [REPORT_LINE] = {"line", "#dfe5e6", "#2f3a40"},
    [REPORT_ACCENT] = {"accent", "#17677f", "#6cc3dc"},
    [REPORT_TRACK] = {"track", "#e8edee", "#2a3439"},
    [REPORT_WIN] = {"win", "#0c6b52", "#5fd0a8"},
    [REPORT_WIN_SOFT] = {"win-soft", "#e6f4ef", "#17302a"},
    [REPORT_NOTE] = {"note", "#eef4f6", "#182830"},
    [REPORT_NOTE_EDGE] = {"note-edge", "#8fb6c3", "#2f6274"},
    [REPORT_WARN] = {"warn", "#8a4b08", "#f2bd6b"},
    [REPORT_WARN_SOFT] = {"warn-soft", "#fdf3e1", "#2e2414"},
    [REPORT_WARN_EDGE] = {"warn-edge", "#e0a040", "#a06d1c"},
    /* after Okabe and Ito: told apart by most kinds of sight, on light and dark ground */
    [REPORT_SERIES] = {"s0", "#0a6fb0", "#5db1ea"},
    [REPORT_SERIES + 1] = {"s1", "#c45500", "#f08a3c"},
    [REPORT_SERIES + 2] = {"s2", "#007f59", "#3fc796"},
    [REPORT_SERIES + 3] = {"s3", "#b0478a", "#e08abb"},
    [REPORT_SERIES + 4] = {"s4", "#806500", "#d9b83a"},
    [REPORT_SERIES + 5] = {"s5", "#2a84bd", "#9ad2f5"},
    [REPORT_SERIES + 6] = {"s6", "#61696e", "#a9b2b7"},
};

const char *report_colour(enum report_colour colour)
{
    TACIT_ASSERT(colour < REPORT_COLOURS);
    return palette[colour].light;
}

static void put_variables(bool is_dark, FILE *out)
{
    (void)fputs(":root{", out);
    for (size_t i = 0; i < REPORT_COLOURS; i++)
        (void)fprintf(out, "--%s:%s%s", palette[i].name,
                      is_dark ? palette[i].dark : palette[i].light,
                      i + 1 < REPORT_COLOURS ? ";" : "}");
}

void report_palette_rules(FILE *out)
{
    (void)fputs(":root{color-scheme:light dark}\n", out);
    put_variables(false, out);
    (void)fputs("\n@media screen and (prefers-color-scheme:dark){", out);
    put_variables(true, out);
    (void)fputs("}\n", out);
}
