internal import FoundationEssentials
internal import LinnetCache

/// What a store on disk knows beside its index.
struct DiskCacheMachine {
    /// The most uses that are noted before they are written without another reason.
    private static let useLimit = 256

    /// The most uses that are kept for another attempt to write them.
    private static let unwrittenLimit = 4096

    private static let readLimit = 4096

    private var notes = IndexDatabase.Notes()
    /// The entries that are being written.
    private var open: [StoredResponse.ID: CacheKey] = [:]
    private var lastUse: Int64 = 0
    /// The entries whose files were read, the last thousands of them.
    private var read: Set<StoredResponse.ID> = []
    var mirror = IndexMirror()
    var memory: MemoryTier
    var statistics = CacheStatistics()

    init(memoryLimit: Int64) { memory = MemoryTier(limit: memoryLimit) }

    // MARK: Uses

    /// A time in microseconds, later than those before.
    private mutating func nextUse() -> Int64 {
        lastUse = max(lastUse + 1, Int64(Date().timeIntervalSince1970 * 1_000_000))
        return lastUse
    }

    /// Notes that an entry was used; returns whether so many uses are noted that they are to be written.
    mutating func use(_ id: StoredResponse.ID) -> Bool {
        notes.uses[id] = nextUse()
        return notes.uses.count >= Self.useLimit
    }

    /// The index has uses until this time, which can be later than the clock's if that was put back. Further ones are later.
    mutating func noteUses(until latest: Int64) { lastUse = max(lastUse, latest) }

    /// The uses that are noted and not in the index.
    var unwrittenUses: [StoredResponse.ID: Int64] { notes.uses }

    /// What was noted since the last call, and the time of the transaction that writes it, which is later than the uses in the
    /// index.
    mutating func takeNotes(after latest: Int64) -> (notes: IndexDatabase.Notes, time: Int64) {
        noteUses(until: latest)
        defer { notes = IndexDatabase.Notes() }
        return (notes, nextUse())
    }

    /// The transaction failed that was to write what was noted.
    mutating func putBack(_ unwritten: IndexDatabase.Notes) {
        if notes.uses.count + unwritten.uses.count <= Self.unwrittenLimit {
            notes.uses.merge(unwritten.uses) { max($0, $1) }
        }
        notes.abandoned += unwritten.abandoned
    }

    // MARK: Files that were read

    func wasRead(_ id: StoredResponse.ID) -> Bool { read.contains(id) }

    mutating func noteRead(_ id: StoredResponse.ID) {
        if read.count >= Self.readLimit { read = [] }
        read.insert(id)
    }

    // MARK: Entries that are being written

    mutating func begin(_ id: StoredResponse.ID, _ key: CacheKey) { open[id] = key }

    func isOpen(_ id: StoredResponse.ID) -> Bool { open[id] != nil }

    /// The entry is committed or removed.
    mutating func close(_ id: StoredResponse.ID) { open[id] = nil }

    /// The entry's writer has given up.
    mutating func abandon(_ id: StoredResponse.ID) {
        if open.removeValue(forKey: id) != nil { notes.abandoned.append(id) }
    }

    mutating func closeAll(for keys: Set<CacheKey>) { open = open.filter { !keys.contains($0.value) } }

    mutating func closeAll() { open = [:] }
}
