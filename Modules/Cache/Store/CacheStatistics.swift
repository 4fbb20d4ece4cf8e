extension CacheStatistics {
    /// The part of the cache in answering a request.
    public struct Outcome: Hashable, Sendable, CustomStringConvertible {
        // A small type, because each response carries an outcome.
        private enum Kind: UInt8 {
            case hit, revalidated, stale, miss, bypass
        }

        private let kind: Kind

        private init(_ kind: Kind) { self.kind = kind }

        /// The name of the outcome.
        public var description: String { "\(kind)" }

        /// A fresh stored response answered.
        public static let hit = Outcome(.hit)
        /// A stored response answered after the server had confirmed it.
        public static let revalidated = Outcome(.revalidated)
        /// A stale stored response answered.
        public static let stale = Outcome(.stale)
        /// The server answered, since no stored response could.
        public static let miss = Outcome(.miss)
        /// The cache took no part.
        public static let bypass = Outcome(.bypass)
    }
}

/// The counts of a store since its creation, and its contents.
public struct CacheStatistics: Hashable, Sendable {
    /// Requests that a stored response answered without the server.
    public var hits = 0
    /// The hits that a stale response answered.
    public var staleHits = 0
    /// Requests that a stored response answered after the server had confirmed it.
    public var revalidations = 0
    /// Requests that the server answered, since no stored response could.
    public var misses = 0
    /// Requests in which the cache took no part.
    public var bypasses = 0
    /// Entries that were removed for lack of space.
    public var evictions = 0
    /// Failed operations of the store, for example on a full disk, and damaged entries that were removed. For the
    /// request, each is just a miss.
    public var failures = 0
    /// The number of entries.
    public var count = 0
    /// The size of all entries in bytes: their bodies, and an estimate for their heads.
    public var bytes: Int64 = 0

    /// Creates the statistics of an unused store.
    public init() {}

    /// Counts an outcome.
    public mutating func record(_ outcome: Outcome) {
        switch outcome {
        case .hit: hits += 1
        case .stale:
            hits += 1
            staleHits += 1
        case .revalidated: revalidations += 1
        case .miss: misses += 1
        default: bypasses += 1
        }
    }
}
