/* Text made safe for where it is put, and how wide it is there. Names come from experiment files
 * and may hold any byte. */
#include "internal.h"
#include <string.h>

#define REPLACEMENT 0xFFFDu

/* One character, and the bytes it was read from. */
struct character {
    uint32_t code; /* REPLACEMENT if the bytes are not UTF-8 */
    size_t size;   /* >= 1 */
};

/* Bytes of a UTF-8 sequence that begins with `lead`; 0: none does. */
static size_t sequence_size(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead >= 0xC2 && lead < 0xE0)
        return 2;
    if (lead >= 0xE0 && lead < 0xF0)
        return 3;
    return lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
}

/* Requires: *text is not the end. Refuses overlong forms, surrogates and what lies past U+10FFFF.
 */
static struct character next_character(const char *text)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *const bytes = (const unsigned char *)text;
    struct character const broken = {REPLACEMENT, 1};
    size_t const size = sequence_size(bytes[0]);
    if (size == 0)
        return broken;
    uint32_t code = size == 1 ? bytes[0] : bytes[0] & (0x7Fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((bytes[i] & 0xC0u) != 0x80u) /* also the terminating NUL */
            return broken;
        code = code << 6 | (bytes[i] & 0x3Fu);
    }
    if (code < least[size] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return broken;
    return (struct character){code, size};
}

/* Ensures: a NUL-terminated text of one character. */
static void encode(uint32_t code, char bytes[5])
{
    TACIT_ASSERT(code <= 0x10FFFF);
    static const unsigned leads[4] = {0, 0xC0, 0xE0, 0xF0};
    unsigned const tail = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    bytes[0] = (char)(leads[tail] | code >> (6 * tail));
    for (unsigned i = 1; i <= tail; i++)
        bytes[i] = (char)(0x80u | (code >> (6 * (tail - i)) & 0x3Fu));
    bytes[tail + 1] = '\0';
}

static void put_utf8(FILE *out, uint32_t code)
{
    char bytes[5];
    encode(code, bytes);
    (void)fputs(bytes, out);
}

/* Controls could command a terminal; direction marks could make a name read as something else; the
 * last two are not allowed in XML. */
static bool is_unprintable(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x202A && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069) || code == 0x2028 || code == 0x2029 ||
           code == 0xFFFE || code == 0xFFFF;
}

/* For people: white space of any kind is a blank. */
static uint32_t printable(uint32_t code)
{
    if (code == '\n' || code == '\r' || code == '\t')
        return ' ';
    return is_unprintable(code) ? REPLACEMENT : code;
}

static void escape_json(FILE *out, uint32_t code)
{
    if (code == '"' || code == '\\')
        (void)fprintf(out, "\\%c", (int)code);
    else if (code == '\n')
        (void)fputs("\\n", out);
    else if (code == '\t')
        (void)fputs("\\t", out);
    else if (code < 0x20 || code == 0x7F)
        (void)fprintf(out, "\\u%04x", (unsigned)code);
    else
        put_utf8(out, code);
}

static void escape_html(FILE *out, uint32_t code)
{
    switch (code) {
    case '&':
        (void)fputs("&amp;", out);
        return;
    case '<':
        (void)fputs("&lt;", out);
        return;
    case '>':
        (void)fputs("&gt;", out);
        return;
    case '"':
        (void)fputs("&quot;", out);
        return;
    case '\'':
        (void)fputs("&#39;", out);
        return;
    default:
        put_utf8(out, printable(code));
    }
}

static void put_character(FILE *out, uint32_t code, enum report_syntax syntax)
{
    switch (syntax) {
    case REPORT_JSON:
        escape_json(out, code);
        break;
    case REPORT_HTML:
        escape_html(out, code);
        break;
    case REPORT_CSV:
        (void)fputs(code == '"' ? "\"" : "", out);
        put_utf8(out, code);
        break;
    case REPORT_TERMINAL:
        put_utf8(out, printable(code));
        break;
    }
}

void report_put_start(FILE *out, const char *text, enum report_syntax syntax,
                      uint32_t character_count)
{
    const char *at = text;
    for (; *at != '\0' && character_count > 0; character_count--) {
        struct character const character = next_character(at);
        put_character(out, character.code, syntax);
        at += character.size;
    }
    for (int i = 0; *at != '\0' && i < 3; i++)
        put_character(out, '.', syntax);
}

/* What stands for itself everywhere is written at once. */
void report_put(FILE *out, const char *text, enum report_syntax syntax)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz 0123456789.,:;-+=_()[]{}/%"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (size_t at = 0; text[at] != '\0';) {
        size_t const run = strspn(text + at, plain);
        (void)fwrite(text + at, 1, run, out);
        at += run;
        if (text[at] == '\0')
            return;
        struct character const character = next_character(text + at);
        put_character(out, character.code, syntax);
        at += character.size;
    }
}

void report_put_column(FILE *out, const char *text, uint32_t width)
{
    uint32_t const own = report_width(text);
    report_put_start(out, text, REPORT_TERMINAL, width > 3 && own > width ? width - 3 : width);
    (void)fprintf(out, "%*s", own < width ? (int)(width - own) : 0, "");
}

uint32_t report_width(const char *text)
{
    uint32_t width = 0;
    for (; *text != '\0'; width++)
        text += next_character(text).size;
    return width;
}

/* ---- How wide a text is drawn ---- */

/* Advance widths of DejaVu Sans in thousandths of an em, from the blank to the tilde. Of the faces
 * that programs take for "sans-serif" it is the widest: what fits in it fits in the others. */
static const uint16_t advances[] = {
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635,  611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838};

#define FONT_PIXELS 13.0
#define MARKED_EM 1.0 /* at most, of an alphabet's letter */
#define WIDE_EM 1.3   /* at most, of an ideogram or a picture */
#define WIDE_CODE 0x1100u

/* Of one character, in pixels. */
static double advance(uint32_t code)
{
    uint32_t const shown = printable(code);
    if (shown < 0x7F)
        return FONT_PIXELS * advances[shown - ' '] / 1000.0;
    return FONT_PIXELS * (shown < WIDE_CODE ? MARKED_EM : WIDE_EM);
}

double report_pixels(const char *text, uint32_t character_count)
{
    double width = 0;
    for (; *text != '\0' && character_count > 0; character_count--) {
        struct character const character = next_character(text);
        width += advance(character.code);
        text += character.size;
    }
    return *text == '\0' ? width : width + 3.0 * advance('.');
}

uint32_t report_fitting(const char *text, uint32_t most, double room)
{
    uint32_t count = report_width(text);
    if (count > most)
        count = most;
    while (count > 0 && report_pixels(text, count) > room)
        count--;
    return count;
}
