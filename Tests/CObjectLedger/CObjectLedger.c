#define _GNU_SOURCE
#include "CObjectLedger.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// The thread sanitizer must not observe the locks in this file: they would create an order that the program itself does not
// have, and hide races.
#if defined(__has_attribute)
#if __has_attribute(disable_sanitizer_instrumentation)
#define QUIET __attribute__((disable_sanitizer_instrumentation))
#endif
#endif
#ifndef QUIET
#define QUIET
#endif

#define BUCKETS 65536
#define CLASSES 32768
#define PREFIXES 64
#define PROBES 64

typedef struct entry {
    struct entry *next;
    // The address is stored inverted, so that an entry does not make an object reachable for the leak checker.
    uintptr_t object;
    uintptr_t class;
    uint64_t number;
} entry;

typedef struct {
    atomic_flag is_taken;
    entry *first;
} bucket;

typedef struct {
    const char *data;
    uintptr_t length;
} type_name;

extern type_name swift_getTypeName(const void *metadata, bool is_qualified) __attribute__((swiftcall));

static bucket buckets[BUCKETS];
static atomic_uintptr_t classes[CLASSES];
static atomic_ullong last;
static const char *prefixes[PREFIXES];
static size_t prefix_lengths[PREFIXES];
static size_t prefix_count;
static atomic_bool counts;

QUIET static void lock(bucket *place) {
    while (atomic_flag_test_and_set_explicit(&place->is_taken, memory_order_acquire)) {}
}

QUIET static void unlock(bucket *place) { atomic_flag_clear_explicit(&place->is_taken, memory_order_release); }

QUIET static bucket *bucket_of(const void *object) {
    return &buckets[(((uintptr_t)object >> 4) * 0x9E3779B97F4A7C15ull) >> 48];
}

QUIET static bool has_prefix(const void *class) {
    type_name name = swift_getTypeName(class, true);
    for (size_t i = 0; i < prefix_count; i++) {
        if (name.length >= prefix_lengths[i] && memcmp(name.data, prefixes[i], prefix_lengths[i]) == 0) return true;
    }
    return false;
}

// Caches whether a class is counted. Class metadata is never freed, and the lowest bit of its address holds the result.
QUIET static bool found_in(atomic_uintptr_t *table, const void *class, bool (*ask)(const void *class)) {
    uintptr_t start = (((uintptr_t)class >> 4) * 0x9E3779B97F4A7C15ull) >> 49;
    for (uintptr_t i = 0; i < PROBES; i++) {
        atomic_uintptr_t *slot = &table[(start + i) % CLASSES];
        uintptr_t known = atomic_load_explicit(slot, memory_order_relaxed);
        if ((known & ~(uintptr_t)1) == (uintptr_t)class) return known & 1;
        if (known != 0) continue;
        // The name is built without allocating Swift objects.
        bool answer = ask(class);
        atomic_compare_exchange_strong_explicit(
            slot, &known, (uintptr_t)class | answer, memory_order_relaxed, memory_order_relaxed);
        return answer;
    }
    return ask(class);
}

// Whether objects of the class are counted.
QUIET static bool is_counted(const void *class) {
    if (!atomic_load_explicit(&counts, memory_order_acquire)) return false;
    // Without Objective-C, class metadata begins with 0; the metadata of other heap objects begins with other numbers.
    return *(const uintptr_t *)class == 0 && found_in(classes, class, has_prefix);
}

QUIET static entry *take(bucket *place, const void *object) {
    for (entry **link = &place->first; *link; link = &(*link)->next) {
        entry *found = *link;
        if (found->object != ~(uintptr_t)object) continue;
        *link = found->next;
        return found;
    }
    return NULL;
}

QUIET static void enter(const void *object, const void *class) {
    bucket *place = bucket_of(object);
    entry *fresh = malloc(sizeof(entry));
    if (!fresh) return;
    fresh->object = ~(uintptr_t)object;
    fresh->class = (uintptr_t)class;
    fresh->number = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
    lock(place);
    entry *old = take(place, object);
    fresh->next = place->first;
    place->first = fresh;
    unlock(place);
    free(old);
}

QUIET static void leave(const void *object) {
    if (!is_counted(*(const void *const *)object)) return;
    bucket *place = bucket_of(object);
    lock(place);
    entry *found = take(place, object);
    unlock(place);
    free(found);
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CHECKS_LEAKS
#endif
#endif

#ifdef CHECKS_LEAKS
// The leak checker recognizes only unmodified pointers. An enum with several payloads sets the highest bits of the pointers in
// it, so the storage of a Data, or of bytes in an enum, is reported as a leak while it is alive. Objects of these classes,
// which contain only bytes, are excluded; their owners are not.
static const char *const bytes_names[] = {
    "FoundationEssentials.__DataStorage",
    "Swift._ContiguousArrayStorage<Swift.UInt8>",
};
static atomic_uintptr_t bytes_classes[CLASSES];

QUIET static bool holds_bytes(const void *class) {
    type_name name = swift_getTypeName(class, true);
    for (size_t i = 0; i < sizeof(bytes_names) / sizeof(*bytes_names); i++) {
        if (name.length == strlen(bytes_names[i]) && memcmp(name.data, bytes_names[i], name.length) == 0) return true;
    }
    return false;
}

extern void __lsan_ignore_object(const void *object);

QUIET static void leave_out_bytes(const void *object, const void *class) {
    if (*(const uintptr_t *)class == 0 && found_in(bytes_classes, class, holds_bytes)) __lsan_ignore_object(object);
}
#else
static void leave_out_bytes(const void *object, const void *class) {}
#endif

// The runtime functions that are wrapped.

typedef void *(*make_function)(const void *class, size_t size, size_t mask);
typedef void (*free_function)(void *object, size_t size, size_t mask);
typedef void (*free_partial_function)(void *object, const void *class, size_t size, size_t mask);

QUIET static void *runtime(atomic_uintptr_t *known, const char *name) {
    uintptr_t found = atomic_load_explicit(known, memory_order_relaxed);
    if (found == 0) {
        found = (uintptr_t)dlsym(RTLD_NEXT, name);
        atomic_store_explicit(known, found, memory_order_relaxed);
    }
    return (void *)found;
}

QUIET __attribute__((visibility("default"))) void *swift_allocObject(const void *class, size_t size, size_t mask) {
    static atomic_uintptr_t known;
    void *object = ((make_function)runtime(&known, "swift_allocObject"))(class, size, mask);
    leave_out_bytes(object, class);
    if (is_counted(class)) enter(object, class);
    return object;
}

QUIET __attribute__((visibility("default"))) void swift_deallocClassInstance(void *object, size_t size, size_t mask) {
    static atomic_uintptr_t known;
    leave(object);
    ((free_function)runtime(&known, "swift_deallocClassInstance"))(object, size, mask);
}

// Called by an initializer that fails or throws before all properties are initialized.
QUIET __attribute__((visibility("default"))) void swift_deallocPartialClassInstance(
    void *object, const void *class, size_t size, size_t mask) {
    static atomic_uintptr_t known;
    leave(object);
    ((free_partial_function)runtime(&known, "swift_deallocPartialClassInstance"))(object, class, size, mask);
}

// For the tests.

void object_ledger_add_prefix(const char *text, size_t length) {
    if (prefix_count == PREFIXES) abort();
    prefixes[prefix_count] = text;
    prefix_lengths[prefix_count] = length;
    prefix_count++;
}

void object_ledger_begin(void) { atomic_store_explicit(&counts, true, memory_order_release); }

uint64_t object_ledger_last(void) { return atomic_load_explicit(&last, memory_order_relaxed); }

QUIET static size_t classes_in(bucket *place, uint64_t after, uintptr_t *found, size_t room) {
    size_t count = 0;
    lock(place);
    for (entry *each = place->first; each && count < room; each = each->next) {
        if (each->number > after) found[count++] = each->class;
    }
    unlock(place);
    return count;
}

void object_ledger_visit(
    uint64_t after, void *context, void (*visit)(void *context, const char *name, size_t length)) {
    for (size_t i = 0; i < BUCKETS; i++) {
        // The maximum number of objects that are reported for one bucket.
        uintptr_t found[64];
        size_t count = classes_in(&buckets[i], after, found, 64);
        for (size_t k = 0; k < count; k++) {
            type_name name = swift_getTypeName((const void *)found[k], true);
            visit(context, name.data, name.length);
        }
    }
}

#else

void object_ledger_add_prefix(const char *text, size_t length) {}
void object_ledger_begin(void) {}
uint64_t object_ledger_last(void) { return 0; }
void object_ledger_visit(
    uint64_t after, void *context, void (*visit)(void *context, const char *name, size_t length)) {}

#endif
