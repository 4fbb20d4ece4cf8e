public import HTTPTypes
public import LinnetCompression
public import LinnetMessages

extension Cassette {
    /// How a cassette records and replays.
    public struct Configuration: Sendable {
        /// Which recorded request answers a request. The default is ``Matching/strict``.
        public var matching: Matching = .strict
        /// The secrets, which are hidden and match any value. A cassette must be replayed with the redaction that it
        /// was recorded with. The default is `.standard`.
        public var redaction: Redaction = .standard
        /// The content codings that are undone. The default is gzip and deflate.
        public var contentCodings: [ContentCoding] = [.gzip, .deflate]
        /// The largest size of a body, in bytes. The default is 16 MiB. Beyond it, the body is truncated, and its
        /// replay fails with ``HARError/Code/bodyNotRecorded``; the body of a request still matches.
        public var maximumBodySize = 16 << 20
        /// The largest size of a recording, in bytes. The default is 128 MiB. Beyond it, bodies are truncated, and
        /// later sends are left out.
        public var maximumSize = 128 << 20
        /// The limits on a file that is replayed.
        public var limits = HAR.Limits()
        /// Changes each entry when the recording is written, or leaves it out by returning nil. The default is nil:
        /// entries are not changed.
        public var edit: (@Sendable (HAR.Entry) -> HAR.Entry?)?

        /// Creates the default configuration.
        public init() {}

        var recording: HARRecorder.Configuration {
            var recording = HARRecorder.Configuration()
            recording.bodies = .all
            recording.maximumBodySize = maximumBodySize
            recording.maximumSize = maximumSize
            recording.maximumEntries = limits.maximumEntries
            recording.contentCodings = contentCodings
            recording.redaction = redaction
            recording.edit = edit
            return recording
        }
    }

    /// Which recorded request answers a request.
    ///
    /// The method and the URL always have to be the same, without its fragment and apart from secrets. If
    /// several entries match, the first one that was not used yet is taken.
    public struct Matching: Sendable, Hashable {
        /// The header fields that must have the same values, apart from secrets.
        public var fields: Set<HTTPField.Name>
        /// Whether the bodies must be the same. Secrets in forms (`application/x-www-form-urlencoded`) and the random
        /// boundaries of multipart bodies do not matter, in bodies of up to 1 MiB.
        public var comparesBodies: Bool
        /// Whether the last entry that matches answers again when all of them were used.
        public var repeatsAnswers: Bool
        /// Whether requests have to come in the order in which they were recorded. Requests that run at the same time
        /// have no order.
        public var isSequential: Bool
        /// Whether ``Cassette/finish()`` fails if an entry was not used.
        public var requiresAllEntries: Bool

        /// Compares the method, the URL, the field Range and the body; each entry answers once, and has to be used.
        public static let strict = Matching(
            fields: [.range], comparesBodies: true, repeatsAnswers: false, isSequential: false, requiresAllEntries: true
        )
        /// Compares the method and the URL; answers are repeated, and need not be used.
        public static let lenient = Matching(
            fields: [], comparesBodies: false, repeatsAnswers: true, isSequential: false, requiresAllEntries: false)
    }
}
