internal import FoundationEssentials
internal import LinnetMessages

/// The known hosts: a value guarded by the store's lock.
struct HSTSTable {
    private struct Entry {
        var host: HSTSStore.Host
        /// The number of the change, by which the oldest is found.
        var change: UInt64
    }

    /// The number of hosts that are kept.
    let limit: Int
    private var entries: [String: Entry] = [:]
    private var changes: UInt64 = 0

    init(limit: Int) { self.limit = max(limit, 1) }

    func hosts(at now: Date) -> [HSTSStore.Host] {
        entries.values.map(\.host).filter { $0.expires > now }.sorted { $0.name < $1.name }
    }

    /// Whether a host is known, itself or by a domain above it (RFC 6797, section 8.2).
    func contains(_ name: String, at now: Date) -> Bool {
        guard !entries.isEmpty else { return false }
        if let entry = entries[name], entry.host.expires > now { return true }
        var rest = name[...]
        while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[rest.utf8.index(after: dot)...]
            if let host = entries[String(rest)]?.host, host.includesSubdomains, host.expires > now { return true }
        }
        return false
    }

    mutating func add(_ host: HSTSStore.Host, at now: Date) {
        changes += 1
        entries[host.name] = Entry(host: host, change: changes)
        if entries.count > limit { makeRoom(at: now) }
    }

    mutating func remove(_ name: String) {
        entries[name] = nil
    }

    mutating func removeAll() {
        entries = [:]
    }

    /// Removes expired hosts, then the hosts that were confirmed longest ago. It leaves room for more, so that the work
    /// is rare.
    private mutating func makeRoom(at now: Date) {
        entries = entries.filter { $0.value.host.expires > now }
        guard entries.count > limit else { return }
        let kept = entries.values.map(\.change).sorted(by: >).prefix(limit - limit / 16)
        guard let oldest = kept.last else { return }
        entries = entries.filter { $0.value.change >= oldest }
    }
}
