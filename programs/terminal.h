/* Text for people fits the terminal that it is printed on. */
#ifndef TACIT_PROGRAMS_TERMINAL_H
#define TACIT_PROGRAMS_TERMINAL_H

/* Where stdout is a terminal: from here on lines that are longer than it is wide ($COLUMNS, or what
 * the terminal says) go on in a further line, a little more to the right, broken between words.
 * Nothing is done where stdout is anything else, or one of the words asks for JSON. */
void terminal_fit(int argc, char **argv);
#endif
