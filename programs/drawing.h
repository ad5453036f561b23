/* Figures in other formats than SVG: rsvg-convert of librsvg makes them, where it is installed. */
#ifndef TACIT_PROGRAMS_DRAWING_H
#define TACIT_PROGRAMS_DRAWING_H
#include "tacit/report.h"

/* May a figure have this format: svg, png, pdf? */
bool drawing_is_format(const char *format);

/* Is there what makes it? TACIT_IO, with words on what to install, if not. */
enum tacit_status drawing_try(const char *format, struct tacit_error *error);

/* Writes each figure that was drawn to `directory`, beside its SVG. Requires: the SVGs are there.
 * Errors: TACIT_IO with error->text. */
enum tacit_status drawing_convert(const struct tacit_report_paper *paper, const char *directory,
                                  const char *format, struct tacit_error *error);
#endif
