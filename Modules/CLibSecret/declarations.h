#ifndef LINNET_CLIBSECRET_DECLARATIONS_H
#define LINNET_CLIBSECRET_DECLARATIONS_H

/* The part of libsecret, gio, gobject and glib that Linnet uses.
 *
 * The libraries' own headers need the compiler flags of their pkg-config file, which include -pthread; Modules/CGdkPixbuf/declarations.h
 * says why that is a problem. `make check` compiles .ci/libsecret-declarations.c, which compares these declarations with the headers. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _GError GError;
typedef struct _GCancellable GCancellable;
typedef struct _GDBusConnection GDBusConnection;
typedef struct _GHashTable GHashTable;
typedef struct _GList GList;
typedef struct _SecretService SecretService;
typedef struct _SecretCollection SecretCollection;

/* Types are declared and never defined, and functions with parameters of enumerations or function types have names of their own, as in
 * CGdkPixbuf. */
#define LINNET_SECRET_QUOTED(name) #name
#define LINNET_SECRET_EXPANDED(name) LINNET_SECRET_QUOTED(name)
#define LINNET_SECRET_SYMBOL(name) __asm__(LINNET_SECRET_EXPANDED(__USER_LABEL_PREFIX__) name)

#define LINNET_SECRET_SESSION_BUS 2 /* G_BUS_TYPE_SESSION */
#define LINNET_SECRET_NO_FLAGS 0    /* SECRET_SERVICE_NONE, SECRET_COLLECTION_NONE */
#define LINNET_SECRET_IS_LOCKED 2   /* SECRET_ERROR_IS_LOCKED */
/* Errors of the bus, GDBusError: those without a service. */
#define LINNET_BUS_SERVICE_UNKNOWN 2
#define LINNET_BUS_NAME_HAS_NO_OWNER 3
#define LINNET_BUS_NO_REPLY 4
#define LINNET_BUS_NO_SERVER 11
#define LINNET_BUS_DISCONNECTED 15
#define LINNET_BUS_SPAWN_FIRST 23 /* G_DBUS_ERROR_SPAWN_EXEC_FAILED */
#define LINNET_BUS_SPAWN_LAST 34  /* G_DBUS_ERROR_SPAWN_NO_MEMORY */

/* GError. */
struct linnet_secret_error {
    uint32_t domain;
    int code;
    char *message;
};

/* SecretSchema. */
struct linnet_secret_schema {
    const char *name;
    int flags;
    struct {
        const char *name;
        int type;
    } attributes[32];
    int reserved;
    void *reserved_pointers[7];
};

uint32_t g_io_error_quark(void);
uint32_t g_dbus_error_quark(void);
uint32_t secret_error_get_quark(void);
void g_error_free(GError *error);

void *linnet_secret_duplicate(const char *text) LINNET_SECRET_SYMBOL("g_strdup");
void linnet_secret_free(void *memory) LINNET_SECRET_SYMBOL("g_free");
void linnet_secret_unref(void *object) LINNET_SECRET_SYMBOL("g_object_unref");
unsigned int linnet_secret_hash(const void *text) LINNET_SECRET_SYMBOL("g_str_hash");
int linnet_secret_equals(const void *one, const void *other) LINNET_SECRET_SYMBOL("g_str_equal");
GHashTable *linnet_secret_table(unsigned int (*hash)(const void *), int (*equals)(const void *, const void *),
                                void (*free_key)(void *), void (*free_value)(void *)) LINNET_SECRET_SYMBOL("g_hash_table_new_full");
int g_hash_table_insert(GHashTable *table, void *key, void *value);
void g_hash_table_unref(GHashTable *table);
GList *g_list_append(GList *list, void *data);
void g_list_free(GList *list);

GCancellable *g_cancellable_new(void);
void g_cancellable_cancel(GCancellable *cancellable);
GDBusConnection *linnet_secret_bus(int type, GCancellable *cancellable, GError **error) LINNET_SECRET_SYMBOL("g_bus_get_sync");
int g_dbus_connection_is_closed(GDBusConnection *connection);
void g_dbus_connection_set_exit_on_close(GDBusConnection *connection, int exits);

SecretService *linnet_secret_service(int flags, GCancellable *cancellable, GError **error) LINNET_SECRET_SYMBOL("secret_service_get_sync");
void secret_service_disconnect(void);
int secret_service_unlock_sync(SecretService *service, GList *objects, GCancellable *cancellable, GList **unlocked, GError **error);
SecretCollection *linnet_secret_collection(SecretService *service, const char *alias, int flags, GCancellable *cancellable,
                                           GError **error) LINNET_SECRET_SYMBOL("secret_collection_for_alias_sync");
int secret_collection_get_locked(SecretCollection *collection);

int linnet_secret_store(const struct linnet_secret_schema *schema, GHashTable *attributes, const char *collection, const char *label,
                        const char *password, GCancellable *cancellable, GError **error)
    LINNET_SECRET_SYMBOL("secret_password_storev_sync");
char *linnet_secret_lookup(const struct linnet_secret_schema *schema, GHashTable *attributes, GCancellable *cancellable,
                           GError **error) LINNET_SECRET_SYMBOL("secret_password_lookupv_sync");
int linnet_secret_clear(const struct linnet_secret_schema *schema, GHashTable *attributes, GCancellable *cancellable, GError **error)
    LINNET_SECRET_SYMBOL("secret_password_clearv_sync");
void secret_password_free(char *password);

#ifdef __cplusplus
}
#endif

#endif
