internal import CLibSecret
internal import FoundationEssentials
internal import LinnetMessages
internal import LinnetOAuth
internal import LinnetSerialization

/// The item of a token in the user's default collection. The functions that take a stop block.
struct SecretItem: Sendable {
    let service: String
    let account: String

    /// The alias of the user's default collection.
    private static let collection = "default"

    /// The path beside which the lock on an item is; nil if the folder for state is unknown.
    static func lockPath(
        _ service: String, _ account: String, in directories: BaseDirectories = .current
    ) -> String? {
        let name = "\(TokenFileName.of(service))@\(TokenFileName.of(account))"
        return directories.path(.state).map { "\($0)/linnet/secret-service/\(name)" }
    }

    /// Reads the token; nil if there is none.
    func read(_ stop: SecretServiceStop) throws(OAuthError) -> OAuthToken? {
        _ = try unlock(stop)
        guard let text = try lookUp(stop) else { return nil }
        guard let token = try? JSONDecoder().decode(OAuthToken.self, from: Data(text.utf8)) else {
            throw OAuthError(
                .damagedTokenFile,
                "The item of \(name) in the Secret Service is not a token. Remove it, and log in again.")
        }
        return token
    }

    /// Stores a token; nil removes the item.
    func write(_ token: OAuthToken?, _ stop: SecretServiceStop) throws(OAuthError) {
        let hasCollection = try unlock(stop)
        guard let token else { return try clear(stop) }
        guard let data = try? JSONEncoder().encode(token) else {
            throw OAuthError(.tokenStoreFailed, "The token has a date that cannot be stored.")
        }
        do {
            try store(String(decoding: data, as: UTF8.self), stop)
        } catch  where error.code == .tokenStoreFailed && !hasCollection {
            throw OAuthError(
                .tokenStoreLocked, "The Secret Service has no default collection, and none was made: \(error.message)")
        }
    }

    private var name: String { account.isEmpty ? service.oneLine : "\(service.oneLine) (\(account.oneLine))" }

    // MARK: libsecret

    /// Unlocks the default collection; returns false if there is none. While it is locked, some services find nothing
    /// in it, as if there were no token.
    private func unlock(_ stop: SecretServiceStop) throws(OAuthError) -> Bool {
        try keepProcessAlive(stop)
        let service = try stop.perform { linnet_secret_service(LINNET_SECRET_NO_FLAGS, $0, $1) }
        defer { linnet_secret_unref(UnsafeMutableRawPointer(service)) }
        let collection = try stop.perform {
            linnet_secret_collection(service, Self.collection, LINNET_SECRET_NO_FLAGS, $0, $1)
        }
        // The service makes the collection with the first item.
        guard let collection else { return false }
        defer { linnet_secret_unref(UnsafeMutableRawPointer(collection)) }
        guard secret_collection_get_locked(collection) != 0 else { return true }
        let list = g_list_append(nil, UnsafeMutableRawPointer(collection))
        defer { g_list_free(list) }
        let count = try stop.perform { secret_service_unlock_sync(service, list, $0, nil, $1) }
        guard count > 0 else {
            throw OAuthError(
                .tokenStoreLocked, "The Secret Service is locked, and was not unlocked for the token of \(name).")
        }
        return true
    }

    /// The connection that GLib shares ends the process when the bus ends, unless it is told otherwise.
    private func keepProcessAlive(_ stop: SecretServiceStop) throws(OAuthError) {
        let bus = try stop.perform { linnet_secret_bus(LINNET_SECRET_SESSION_BUS, $0, $1) }
        defer { linnet_secret_unref(UnsafeMutableRawPointer(bus)) }
        g_dbus_connection_set_exit_on_close(bus, 0)
        // GLib keeps a connection that has ended while libsecret does, which would print warnings with each use.
        guard g_dbus_connection_is_closed(bus) == 0 else {
            throw OAuthError(.tokenStoreUnavailable, "The message bus of the Secret Service has ended.")
        }
    }

    private func lookUp(_ stop: SecretServiceStop) throws(OAuthError) -> String? {
        let attributes = linnet_secret_attributes(service, account)
        defer { g_hash_table_unref(attributes) }
        let text = try stop.perform { linnet_secret_lookup(linnet_secret_token_schema(), attributes, $0, $1) }
        // It wipes the memory.
        defer { secret_password_free(text) }
        return text.map { String(cString: $0) }
    }

    private func store(_ text: String, _ stop: SecretServiceStop) throws(OAuthError) {
        let attributes = linnet_secret_attributes(service, account)
        defer { g_hash_table_unref(attributes) }
        let label = "OAuth token of \(name)"
        _ = try stop.perform {
            linnet_secret_store(linnet_secret_token_schema(), attributes, Self.collection, label, text, $0, $1)
        }
    }

    private func clear(_ stop: SecretServiceStop) throws(OAuthError) {
        let attributes = linnet_secret_attributes(service, account)
        defer { g_hash_table_unref(attributes) }
        // It returns whether there was an item.
        _ = try stop.perform { linnet_secret_clear(linnet_secret_token_schema(), attributes, $0, $1) }
    }
}
