#ifndef LINNET_CLIBSECRET_SHIM_H
#define LINNET_CLIBSECRET_SHIM_H

#include "declarations.h"

/* The attributes of an item that holds a token. Items of another schema are never read. */
static inline const struct linnet_secret_schema *linnet_secret_token_schema(void) {
    static const struct linnet_secret_schema schema = {
        "linnet.OAuthToken", 0, {{"service", 0}, {"account", 0}}, 0, {0}};
    return &schema;
}

/* The values of the attributes, which are copied. */
static inline GHashTable *linnet_secret_attributes(const char *service, const char *account) {
    GHashTable *table = linnet_secret_table(linnet_secret_hash, linnet_secret_equals, linnet_secret_free, linnet_secret_free);
    g_hash_table_insert(table, linnet_secret_duplicate("service"), linnet_secret_duplicate(service));
    g_hash_table_insert(table, linnet_secret_duplicate("account"), linnet_secret_duplicate(account));
    return table;
}

static inline const struct linnet_secret_error *linnet_secret_details(const GError *error) {
    return (const struct linnet_secret_error *)error;
}

/* Whether an error says that there is no bus, or no service on it. */
static inline int linnet_secret_is_absence(const GError *error) {
    const struct linnet_secret_error *details = linnet_secret_details(error);
    if (details->domain == g_io_error_quark()) return 1;
    if (details->domain != g_dbus_error_quark()) return 0;
    switch (details->code) {
    case LINNET_BUS_SERVICE_UNKNOWN:
    case LINNET_BUS_NAME_HAS_NO_OWNER:
    case LINNET_BUS_NO_REPLY:
    case LINNET_BUS_NO_SERVER:
    case LINNET_BUS_DISCONNECTED: return 1;
    default: return details->code >= LINNET_BUS_SPAWN_FIRST && details->code <= LINNET_BUS_SPAWN_LAST;
    }
}

static inline int linnet_secret_is_locked(const GError *error) {
    const struct linnet_secret_error *details = linnet_secret_details(error);
    return details->domain == secret_error_get_quark() && details->code == LINNET_SECRET_IS_LOCKED;
}

#endif
