// Compares Modules/CLibSecret/declarations.h with the libraries' own headers: a declaration of another type does not compile.
#include <libsecret/secret.h>
#include <stddef.h>

#include "declarations.h"
#include "shim.h"

// Functions that are declared under names of their own, with the types of their parameters in place of enumerations and schemas.
#define SAME(ours, theirs) _Static_assert(__builtin_types_compatible_p(__typeof__(ours), __typeof__(theirs)), #theirs)

SAME(linnet_secret_hash, (g_str_hash));
SAME(linnet_secret_equals, (g_str_equal));
SAME(linnet_secret_free, g_free);
SAME(linnet_secret_unref, g_object_unref);
SAME(linnet_secret_table, g_hash_table_new_full);
_Static_assert(sizeof(GBusType) == sizeof(int) && LINNET_SECRET_SESSION_BUS == G_BUS_TYPE_SESSION, "GBusType");
_Static_assert(sizeof(SecretServiceFlags) == sizeof(int) && LINNET_SECRET_NO_FLAGS == SECRET_SERVICE_NONE, "SecretServiceFlags");
_Static_assert(sizeof(SecretCollectionFlags) == sizeof(int) && LINNET_SECRET_NO_FLAGS == SECRET_COLLECTION_NONE,
               "SecretCollectionFlags");
_Static_assert(LINNET_SECRET_IS_LOCKED == SECRET_ERROR_IS_LOCKED, "SecretError");
_Static_assert(LINNET_BUS_SERVICE_UNKNOWN == G_DBUS_ERROR_SERVICE_UNKNOWN && LINNET_BUS_NAME_HAS_NO_OWNER == G_DBUS_ERROR_NAME_HAS_NO_OWNER,
               "GDBusError");
_Static_assert(LINNET_BUS_NO_REPLY == G_DBUS_ERROR_NO_REPLY && LINNET_BUS_NO_SERVER == G_DBUS_ERROR_NO_SERVER, "GDBusError");
_Static_assert(LINNET_BUS_DISCONNECTED == G_DBUS_ERROR_DISCONNECTED, "GDBusError");
_Static_assert(LINNET_BUS_SPAWN_FIRST == G_DBUS_ERROR_SPAWN_EXEC_FAILED && LINNET_BUS_SPAWN_LAST == G_DBUS_ERROR_SPAWN_NO_MEMORY,
               "GDBusError");
_Static_assert(sizeof(GError) == sizeof(struct linnet_secret_error), "GError");
_Static_assert(offsetof(GError, code) == offsetof(struct linnet_secret_error, code), "GError.code");
_Static_assert(offsetof(GError, message) == offsetof(struct linnet_secret_error, message), "GError.message");
_Static_assert(sizeof(SecretSchema) == sizeof(struct linnet_secret_schema), "SecretSchema");
_Static_assert(offsetof(SecretSchema, attributes[1].type) == offsetof(struct linnet_secret_schema, attributes[1].type),
               "SecretSchema.attributes");
_Static_assert(offsetof(SecretSchema, reserved) == offsetof(struct linnet_secret_schema, reserved), "SecretSchema.reserved");
_Static_assert(SECRET_SCHEMA_NONE == 0 && SECRET_SCHEMA_ATTRIBUTE_STRING == 0, "constants");

// The parameters of the others: each call below would warn about an incompatible type.
int main(void) {
    GBusType bus = G_BUS_TYPE_SESSION;
    GDBusConnection *(*get)(GBusType, GCancellable *, GError **) = g_bus_get_sync;
    SecretService *(*service)(SecretServiceFlags, GCancellable *, GError **) = secret_service_get_sync;
    SecretCollection *(*collection)(SecretService *, const char *, SecretCollectionFlags, GCancellable *, GError **) =
        secret_collection_for_alias_sync;
    gboolean (*store)(const SecretSchema *, GHashTable *, const char *, const char *, const char *, GCancellable *, GError **) =
        secret_password_storev_sync;
    char *(*lookup)(const SecretSchema *, GHashTable *, GCancellable *, GError **) = secret_password_lookupv_sync;
    gboolean (*clear)(const SecretSchema *, GHashTable *, GCancellable *, GError **) = secret_password_clearv_sync;
    return bus && get && service && collection && store && lookup && clear ? 0 : 1;
}
