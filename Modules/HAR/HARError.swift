public import FoundationEssentials
internal import LinnetSession
internal import LinnetTransport

/// A HAR that cannot be read or written, or a request that a ``Cassette`` does not answer.
///
/// The ``code`` says what kind of failure it is, and ``place`` where it is in the document, such as
/// `log.entries[3].response.status`. Messages contain no secrets: the URLs in them are redacted.
public struct HARError: Error, Sendable {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The file cannot be read, is no regular file, or changed while it was read.
        public static let unreadableFile = Code("unreadableFile")
        /// The file cannot be written. One that was there is unchanged.
        public static let unwritableFile = Code("unwritableFile")
        /// The document exceeds one of the ``HAR/Limits``.
        public static let tooLarge = Code("tooLarge")
        /// The text is not JSON.
        public static let invalidJSON = Code("invalidJSON")
        /// The document lacks a required field.
        public static let missingField = Code("missingField")
        /// A field has a value of another type, or one that it cannot have.
        public static let invalidValue = Code("invalidValue")
        /// A body is not valid in its encoding, or has another size than the document says.
        public static let damagedBody = Code("damagedBody")
        /// No entry of the cassette answers the request.
        public static let noMatchingEntry = Code("noMatchingEntry")
        /// The cassette has not the body that the replay needs: it was not recorded, or only a part of it, or it is
        /// redacted.
        public static let bodyNotRecorded = Code("bodyNotRecorded")
        /// The request asks to switch protocols, such as a WebSocket; a cassette cannot answer it.
        public static let upgradeNotReplayable = Code("upgradeNotReplayable")
        /// Entries of the cassette were not used.
        public static let unusedEntries = Code("unusedEntries")
    }

    /// The kind of failure.
    public var code: Code
    /// A sentence with the failure and its place.
    public var message: String
    /// The place in the document; nil if the failure has none.
    public var place: String?
    /// The underlying error, such as a `JSONSyntaxError` or a `FileFailure`.
    public var underlying: (any Error)?

    /// Creates an error.
    public init(_ code: Code, _ message: String, place: String? = nil, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.place = place
        self.underlying = underlying
    }
}

extension HARError: CustomStringConvertible, LocalizedError {
    /// The message.
    public var description: String { message }

    /// The message, for display to the user.
    public var errorDescription: String? { message }
}

extension HARError {
    static func missing(_ place: HARPlace) -> HARError {
        HARError(.missingField, "The HAR has no \(place).", place: "\(place)")
    }

    /// - Parameter expected: The end of a sentence, such as `a string`.
    static func invalid(_ place: HARPlace, _ expected: String) -> HARError {
        HARError(.invalidValue, "\(place) in the HAR is not \(expected).", place: "\(place)")
    }
}

/// A place in a document, whose text is made when it is needed.
indirect enum HARPlace: CustomStringConvertible {
    case root
    case member(HARPlace, String)
    case element(HARPlace, Int)

    var description: String {
        switch self {
        case .root: ""
        case .member(.root, let name): name
        case .member(let place, let name): "\(place).\(name)"
        case .element(let place, let index): "\(place)[\(index)]"
        }
    }
}

extension HARError {
    /// Creates the error that underlies another one, such as the `SessionError` of a request that a ``Cassette`` did
    /// not answer; nil if there is none.
    public init?(causeOf error: any Error) {
        var next: (any Error)? = error
        while let error = next {
            if let found = error as? HARError {
                self = found
                return
            }
            next = (error as? SessionError)?.underlying ?? (error as? TransportError)?.underlying
        }
        return nil
    }
}
