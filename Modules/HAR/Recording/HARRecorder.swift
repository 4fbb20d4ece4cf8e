public import FoundationEssentials
public import LinnetJSON
public import LinnetSession
public import LinnetTransport
internal import Synchronization

/// Records what passes a transport, as a ``HAR``.
///
/// ```swift
/// let recorder = HARRecorder { $0.bodies = .all }
/// let session = try HTTPSession { $0.instruments = [recorder] }
/// …
/// try recorder.write(to: URL(filePath: "session.har"))
/// ```
/// Each send is one entry, as it was sent: a redirect, a retry, a hedge and the answer to a challenge are entries of
/// their own, while an answer of the cache, which sends nothing, is none. A send that failed has the status 0, or the
/// status of the response whose body failed, with the failure in its comment. A send that has not ended is recorded as
/// far as it came.
///
/// Secrets are hidden by ``Configuration/redaction``. Bodies are not recorded unless ``Configuration/bodies`` says so:
/// they may contain secrets that no name reveals. They are copied as they pass, which delays neither side, and their
/// content codings are undone when the log is made. All memory is bounded by the ``Configuration``.
public final class HARRecorder: Instrument {
    private struct State {
        var records: [SendRecord] = []
        var dropped = 0
    }

    /// The configuration that the recorder was created with.
    public let configuration: Configuration
    let room: RecordingRoom
    /// Whether the digests of requests' bodies are recorded, with which a ``Cassette`` recognizes them.
    private let takesFingerprints: Bool
    private let state = Mutex(State())

    /// Creates a recorder.
    ///
    /// - Parameter configure: Changes the default configuration.
    public convenience init(_ configure: (inout Configuration) -> Void = { _ in }) {
        var configuration = Configuration()
        configure(&configuration)
        self.init(configuration, takesFingerprints: false)
    }

    init(_ configuration: Configuration, takesFingerprints: Bool) {
        self.configuration = configuration
        self.takesFingerprints = takesFingerprints
        room = RecordingRoom(configuration.maximumSize)
    }

    /// Returns a transport that sends by another one, to which it forwards everything, and records what it sends.
    public func transport(over base: any Transport) -> any Transport {
        RecordingTransport(base: base, recorder: self)
    }

    /// The log of all sends so far, in the order in which they began.
    public var har: HAR {
        let (records, dropped) = state.withLock { ($0.records, $0.dropped) }
        var room = configuration.maximumSize
        var entries: [HAR.Entry] = []
        for record in records {
            let entry = EntryMaker(record.snapshot, configuration).entry(&room)
            guard let edit = configuration.edit else {
                entries.append(entry)
                continue
            }
            if let entry = edit(entry) { entries.append(entry) }
        }
        var har = HAR(entries: entries)
        if dropped > 0 { har.comment = "The limits of the recorder left out \(dropped) more." }
        return har
    }

    /// Writes the log to a file that only its owner can read. A file with this name is replaced as a whole, or
    /// unchanged if writing fails. Blocks.
    ///
    /// - Parameters:
    ///   - file: The file, in a folder that exists.
    ///   - options: How the text is laid out. The default is one line.
    /// - Throws: ``HARError`` with ``HARError/Code/unwritableFile``.
    public func write(
        to file: URL, options: JSONValue.WritingOptions = JSONValue.WritingOptions()
    ) throws(HARError) {
        try har.write(to: file, options: options)
    }

    /// Forgets all sends so far. The ones that run are not recorded any more.
    public func removeAll() {
        let records = state.withLock { state in
            defer { state = State() }
            return state.records
        }
        for record in records { record.stop() }
    }

    /// The record of a request; nil if the limits leave it out.
    func begin(_ request: TransportRequest) -> SendRecord? {
        let size = request.head.sizeInMemory
        let record = SendRecord(request, self, takesFingerprint: takesFingerprints)
        let isKept = state.withLock { state in
            guard state.records.count < configuration.maximumEntries, room.take(size) else {
                state.dropped += 1
                return false
            }
            state.records.append(record)
            return true
        }
        return isKept ? record : nil
    }
}
