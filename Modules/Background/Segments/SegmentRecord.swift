internal import FoundationEssentials
internal import LinnetSecurity
internal import LinnetSerialization
internal import LinnetSession

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The side file of a part whose segments are transferred at once.
///
/// It is replaced as a whole, and describes bytes that are on the disk. A second file has the number of written bytes
/// of each segment: it is changed in place after each write, so it is right until the system ends.
struct SegmentRecord: Sendable, Codable {
    /// The version of the format. Files of other versions are ignored.
    static let currentVersion = 1

    var version = Self.currentVersion
    let url: String
    let entity: SegmentedEntity
    /// The path of the part.
    let part: String
    /// The part, which no other file of its name can replace.
    let device: UInt64
    let node: UInt64
    /// The SHA-256 of the first bytes of the part, once they were received. It reveals another file in its place.
    var beginning: Beginning?
    /// Relates the second file to this one.
    let mark: UInt64
    var map: SegmentMap

    /// The record of a task with all bytes that were written; nil if there is none, or its part is gone. Blocks.
    ///
    /// - Parameter trustsOffsets: Whether the second file counts, because the system has not ended since it was
    ///   written.
    init?(of id: BackgroundTask.ID, in folder: BackgroundFolder, trustsOffsets: Bool = true) {
        guard let data = FileManager.default.contents(atPath: folder.segmentsFile(id)),
            let record = try? JSONDecoder().decode(SegmentRecord.self, from: data),
            record.version == Self.currentVersion, record.map.isSound, record.map.total == record.entity.total,
            let state = FileState(path: record.part), state.device == record.device, state.node == record.node,
            state.size == record.entity.total, let beginning = record.beginning,
            beginning == Beginning(of: record.part, count: beginning.count)
        else { return nil }
        self = record
        guard trustsOffsets, let data = FileManager.default.contents(atPath: folder.offsetsFile(id)) else { return }
        let numbers = stride(from: 0, to: data.count - 7, by: 8).map { Self.number(data, at: $0) }
        if numbers.first == mark { map.advance(to: numbers.dropFirst().map { Int64(clamping: $0) }) }
    }

    init(url: String, entity: SegmentedEntity, part: String, state: FileState, map: SegmentMap) {
        (self.url, self.entity, self.part, self.map) = (url, entity, part, map)
        (device, node) = (state.device, state.node)
        mark = .random(in: 0...UInt64.max)
    }

    /// The contents of the second file.
    var offsets: [UInt64] { [mark] + map.segments.map { UInt64($0.done) } }

    private static func number(_ data: Data, at offset: Int) -> UInt64 {
        data.dropFirst(offset).prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// The first bytes of a part.
struct Beginning: Sendable, Equatable, Codable {
    /// The number of bytes: at least one, and at most the length of the first request.
    let count: Int
    /// The SHA-256 in hexadecimal.
    let digest: String

    /// Reads the bytes; nil if the part does not have so many, or cannot be read. Blocks.
    init?(of part: String, count: Int) {
        let descriptor = SystemCall.retrying { open(part, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard (1...SegmentedTransfer.probe).contains(count) else { return nil }
        var room = [UInt8](repeating: 0, count: count)
        let found = room.withUnsafeMutableBytes { bytes in
            SystemCall.retrying { read(descriptor, bytes.baseAddress, bytes.count) }
        }
        guard found == count else { return nil }
        let hasher = SHA256Hasher()
        room.withUnsafeBytes { hasher.update($0) }
        self.count = count
        digest = hasher.hexadecimalDigest
    }
}
