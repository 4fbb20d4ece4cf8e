internal import FoundationEssentials
internal import NIOCore

/// The first bytes of a body, the number of all, and their digest if it is wanted.
struct BodyLog {
    /// The largest number of bytes that are kept; nil if the body is not recorded.
    let limit: Int?
    private(set) var bytes = Data()
    private(set) var count = 0
    /// Whether bytes were left out. No later ones are kept then.
    private(set) var isTruncated = false
    private(set) var fingerprint: BodyFingerprint?

    init(limit: Int?, fingerprint: BodyFingerprint? = nil) {
        self.limit = limit
        self.fingerprint = fingerprint
    }

    mutating func append(_ buffer: ByteBuffer, _ room: RecordingRoom) {
        count += buffer.readableBytes
        buffer.withUnsafeReadableBytes { all in
            fingerprint?.append(all)
            guard let limit, !isTruncated else { return }
            let kept = room.take(upTo: min(all.count, limit - bytes.count))
            bytes.append(contentsOf: all.prefix(kept))
            isTruncated = kept < all.count
        }
    }

    /// Gives the memory back.
    mutating func removeAll(_ room: RecordingRoom) {
        room.give(bytes.count)
        (bytes, count, isTruncated) = (Data(), 0, false)
        fingerprint = fingerprint?.restarted
    }
}
