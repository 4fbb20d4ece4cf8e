internal import FoundationEssentials
internal import LinnetCache

/// The state of a store on disk that is not in its index.
struct DiskCacheMachine {
    /// The number of noted uses that causes a transaction of their own.
    private static let useLimit = 256

    /// The largest number of uses that are kept when writing them failed.
    private static let unwrittenLimit = 4096

    private static let readLimit = 4096

    private var notes = IndexDatabase.Notes()
    /// The unfinished entries.
    private var open: [StoredResponse.ID: CacheKey] = [:]
    private var lastUse: Int64 = 0
    /// The entries whose files were read recently.
    private var read: Set<StoredResponse.ID> = []
    var mirror = IndexMirror()
    var memory: MemoryTier
    var statistics = CacheStatistics()

    init(memoryLimit: Int64) { memory = MemoryTier(limit: memoryLimit) }

    // MARK: Uses

    /// A time in microseconds, later than all earlier ones.
    private mutating func nextUse() -> Int64 {
        lastUse = max(lastUse + 1, Int64(Date().timeIntervalSince1970 * 1_000_000))
        return lastUse
    }

    /// Notes the use of an entry. Returns whether the notes should be written now.
    mutating func use(_ id: StoredResponse.ID) -> Bool {
        notes.uses[id] = nextUse()
        return notes.uses.count >= Self.useLimit
    }

    /// Takes over the latest use in the index, so that further uses are later. It can be ahead of the clock, if the
    /// clock was set back.
    mutating func noteUses(until latest: Int64) { lastUse = max(lastUse, latest) }

    /// The uses that are not in the index yet.
    var unwrittenUses: [StoredResponse.ID: Int64] { notes.uses }

    /// Returns the notes since the last call, and the time of the transaction that writes them. The time is later than
    /// the uses in the index.
    mutating func takeNotes(after latest: Int64) -> (notes: IndexDatabase.Notes, time: Int64) {
        noteUses(until: latest)
        defer { notes = IndexDatabase.Notes() }
        return (notes, nextUse())
    }

    /// Keeps the notes of a failed transaction for the next one.
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

    /// Forgets a writer after its entry was committed or removed.
    mutating func close(_ id: StoredResponse.ID) { open[id] = nil }

    /// Notes that a writer was abandoned.
    mutating func abandon(_ id: StoredResponse.ID) {
        if open.removeValue(forKey: id) != nil { notes.abandoned.append(id) }
    }

    mutating func closeAll(for keys: Set<CacheKey>) { open = open.filter { !keys.contains($0.value) } }

    mutating func closeAll() { open = [:] }
}
