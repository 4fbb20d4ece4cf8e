// Which objects of chosen Swift classes are alive in a test's process. The classes need no hook: the functions of the Swift runtime
// that make and free an object are wrapped, in programs that link this.
#ifndef C_OBJECT_LEDGER_H
#define C_OBJECT_LEDGER_H

#include <stddef.h>
#include <stdint.h>

// Classes whose full name begins with this text are counted. Call it before object_ledger_begin, at most 64 times. The text is
// kept as it is.
void object_ledger_add_prefix(const char *text, size_t length);

// Counts the objects that are made from now on.
void object_ledger_begin(void);

// The number of the object that was counted last; 0 when there was none.
uint64_t object_ledger_last(void);

// Calls back, for each living object that was made after the one with this number, with the full name of its class.
void object_ledger_visit(
    uint64_t after, void *context, void (*visit)(void *context, const char *name, size_t length));

#endif
