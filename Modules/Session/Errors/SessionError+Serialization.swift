internal import FoundationEssentials
internal import LinnetSerialization

extension SessionError {
    /// Creates the session error for a serializer's error.
    init(_ error: SerializationError, url: URL?) {
        self.init(Self.meaning(of: error), error.message, underlying: error, url: url)
        head = error.response?.head
        body = error.response?.body
        fileFailure = error.underlying as? FileFailure
    }

    private static let meanings: [SerializationError.Code: Code] = [
        .unacceptableStatus: .unacceptableStatus,
        .unacceptableContentType: .unacceptableContentType,
        .emptyBody: .decodingFailed,
        .decodingFailed: .decodingFailed,
        .encodingFailed: .encodingFailed,
        .invalidParameters: .invalidParameters,
        .invalidHeader: .invalidRequest,
        .invalidURL: .invalidURL,
        .bodyNotReplayable: .requestBodyFailed,
        .bodyFileUnreadable: .fileFailed,
        .bodyFileChanged: .fileFailed,
    ]

    private static func meaning(of error: SerializationError) -> Code {
        meanings[error.code] ?? (error.response == nil ? .encodingFailed : .decodingFailed)
    }
}
