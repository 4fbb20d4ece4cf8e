internal import FoundationEssentials
internal import LinnetSession

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
    /// Relates the second file to this one.
    let mark: UInt64
    var map: SegmentMap

    /// The record of a task with all bytes that were written; nil if there is none, or its part is gone. Blocks.
    ///
    /// - Parameter isOfThisBoot: Whether the bytes were written since the system started.
    init?(of id: BackgroundTask.ID, in folder: BackgroundFolder, isOfThisBoot: Bool) {
        guard let data = FileManager.default.contents(atPath: folder.segmentsFile(id)),
            let record = try? JSONDecoder().decode(SegmentRecord.self, from: data),
            record.version == Self.currentVersion, record.map.isSound, record.map.total == record.entity.total,
            let state = FileState(path: record.part), state.device == record.device, state.node == record.node,
            state.size == record.entity.total
        else { return nil }
        self = record
        guard isOfThisBoot, let data = FileManager.default.contents(atPath: folder.offsetsFile(id)) else { return }
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
