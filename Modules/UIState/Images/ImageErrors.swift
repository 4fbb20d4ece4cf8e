internal import FoundationEssentials
internal import LinnetSession

extension SessionError {
    static func cancelledImage(_ url: URL) -> SessionError {
        SessionError(.cancelled, "The download of the image was cancelled.", url: url)
    }

    /// A processor's function threw an error.
    static func processorFailed(_ identifier: String, _ error: any Error, _ url: URL) -> SessionError {
        SessionError(
            .decodingFailed, "The processor \(identifier) failed: \(Self.cause(error))", underlying: error, url: url)
    }
}
