extension TransferLease {
    /// The transfers that a worker has room for.
    public struct Room: Sendable {
        /// The kinds of transfers that the worker takes. The default is all of them.
        public var kinds: Set<BackgroundTask.Kind> = [.download, .upload]
        /// The largest number of transfers from or to one host and port that the worker has at once. The default is
        /// nil: no limit.
        public var maximumPerHost: Int?
        /// The number of transfers of each host that the worker has.
        private var active: [String: Int] = [:]

        /// Creates the room of a worker that has no transfers, and takes all.
        public init() {}

        /// The hosts of which the worker takes no more.
        package var fullHosts: [String] {
            guard let maximumPerHost else { return [] }
            return active.filter { $0.value >= max(1, maximumPerHost) }.keys.sorted()
        }

        /// Counts a transfer in; returns false if there is no room for it.
        package mutating func take(_ transfer: StoredTransfer) -> Bool {
            let count = active[transfer.host, default: 0]
            if let maximumPerHost, count >= max(1, maximumPerHost) { return false }
            active[transfer.host] = count + 1
            return true
        }
    }
}

extension BackgroundTask.Kind {
    /// The number in databases.
    package var number: Int64 { self == .download ? 0 : 1 }
}
