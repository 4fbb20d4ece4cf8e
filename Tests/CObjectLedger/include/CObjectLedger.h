// Tracks the living objects of selected Swift classes in a test process. The classes need no hooks: in programs that link this
// library, the functions of the Swift runtime that allocate and free objects are wrapped.
#ifndef C_OBJECT_LEDGER_H
#define C_OBJECT_LEDGER_H

#include <stddef.h>
#include <stdint.h>

// Counts the classes whose full name begins with this text. Call it before object_ledger_begin, at most 64 times. The text is
// not copied.
void object_ledger_add_prefix(const char *text, size_t length);

// Starts counting the objects that are created from now on.
void object_ledger_begin(void);

// The number of the last counted object; 0 when there is none.
uint64_t object_ledger_last(void);

// Calls the function with the full class name of each living object that was created after the one with this number.
void object_ledger_visit(
    uint64_t after, void *context, void (*visit)(void *context, const char *name, size_t length));

#endif
