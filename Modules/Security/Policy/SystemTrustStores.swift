internal import Synchronization

/// Stores over the system's anchors, each loaded once for what the environment says.
final class SystemTrustStores: Sendable {
    /// The system's anchors alone.
    static let shared = SystemTrustStores()

    private let added: [X509Handle]
    private let stores = Mutex<[SystemTrustLocation: TrustStore]>([:])

    init(adding added: [X509Handle] = []) {
        self.added = added
    }

    func store(for location: SystemTrustLocation) throws(SecurityError) -> TrustStore {
        if let store = stores.withLock({ $0[location] }) { return store }
        // Loaded outside of the lock, as it reads files; of two that race the first stays.
        let loaded = try TrustStore(location.resolve(), added)
        return stores.withLock { stores in
            if let store = stores[location] { return store }
            stores[location] = loaded
            return loaded
        }
    }

    func adding(_ more: [X509Handle]) -> SystemTrustStores { SystemTrustStores(adding: added + more) }
}
