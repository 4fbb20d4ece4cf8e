public import FoundationEssentials
internal import LinnetJSON
public import LinnetSession
public import LinnetTransport

/// Records the requests of a session once, and answers them later without a network: for tests.
///
/// ```swift
/// let cassette = try Cassette(.recordIfMissing(URL(filePath: "Tests/Cassettes/posts.har")))
/// let session = try HTTPSession { $0.instruments = [cassette] }
/// …
/// await session.shutdown()
/// try cassette.finish()
/// ```
/// The file is a ``HAR``, which other tools read, and which can be edited. Everything above the transport works as with
/// a network, and sees the recorded answers: redirects, cookies, retries, authentication, the cache, streams. A send
/// that failed fails again, with the same code. A send that was cancelled is not replayed.
///
/// Secrets are redacted as in a ``HARRecorder``, and match any value: a replayed request may have another token than
/// the recorded one. A redacted field is missing in the replayed response, apart from cookies, which have a placeholder
/// as their value. Secrets in other bodies than forms are recorded; ``Configuration/edit`` can change them.
///
/// A replayed response has its content decoded, without Content-Encoding, and no times. Requests that switch protocols,
/// such as WebSockets, are forwarded while recording, and refused by a replay.
///
/// A failed replay is a `TransportError` with `TransportError.Code.invalidRequest`, which a ``HARError`` underlies;
/// ``HARError/init(causeOf:)`` finds it.
public final class Cassette: Instrument {
    private enum Work: Sendable {
        case recording(HARRecorder)
        case replaying(Tape)
    }

    /// The file.
    public let file: URL
    private let work: Work

    /// Creates a cassette. A file that is replayed is read and checked as a whole. Blocks.
    ///
    /// - Parameters:
    ///   - mode: Whether to record or to replay, and the file.
    ///   - configure: Changes the default configuration.
    /// - Throws: ``HARError`` if the file cannot be read, is not a HAR, or has entries that cannot be replayed; or the
    ///   error of `configure`.
    public init(_ mode: Mode, _ configure: (inout Configuration) throws -> Void = { _ in }) throws {
        var configuration = Configuration()
        try configure(&configuration)
        file = mode.file
        if mode.replays {
            let har = try HAR(contentsOf: file, limits: configuration.limits)
            work = .replaying(try Tape(har, configuration, file: file))
        } else {
            work = .recording(HARRecorder(configuration.recording, takesFingerprints: true))
        }
    }

    /// Whether the cassette replays.
    public var isReplaying: Bool {
        if case .replaying = work { true } else { false }
    }

    /// Returns a transport that sends by another one and records, or that replays.
    ///
    /// - Parameter base: The transport to record, which is shut down together with the returned one. A replay sends
    ///   nothing by it.
    public func transport(over base: any Transport) -> any Transport {
        switch work {
        case .recording(let recorder): recorder.transport(over: base)
        case .replaying(let tape): ReplayTransport(tape, base: base)
        }
    }

    /// The entries that no request has used; empty while recording.
    public var unusedEntries: [HAR.Entry] {
        if case .replaying(let tape) = work { tape.unusedEntries.map(\.recorded) } else { [] }
    }

    /// Writes the recording, or checks that each entry was used if ``Matching/requiresAllEntries`` says so. Blocks.
    ///
    /// The file is replaced as a whole, or unchanged if writing fails. Only its owner can read it.
    ///
    /// - Throws: ``HARError`` with ``HARError/Code/unwritableFile`` or ``HARError/Code/unusedEntries``.
    public func finish() throws(HARError) {
        switch work {
        case .recording(let recorder):
            try recorder.write(to: file, options: JSONValue.WritingOptions(isPretty: true))
        case .replaying(let tape):
            try tape.checkUse()
        }
    }
}

extension Cassette {
    /// Whether a cassette records or replays.
    public struct Mode: Sendable, Hashable {
        let file: URL
        private let isRecording: Bool
        private let isConditional: Bool

        /// Records to a file, which is replaced.
        public static func record(_ file: URL) -> Mode { Mode(file: file, isRecording: true, isConditional: false) }

        /// Replays a file.
        public static func replay(_ file: URL) -> Mode { Mode(file: file, isRecording: false, isConditional: false) }

        /// Replays a file, or records it if there is none when the cassette is created.
        public static func recordIfMissing(_ file: URL) -> Mode {
            Mode(file: file, isRecording: true, isConditional: true)
        }

        var replays: Bool {
            isConditional ? FileManager.default.fileExists(atPath: file.path) : !isRecording
        }
    }
}
