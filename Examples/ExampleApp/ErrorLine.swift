import ArgumentParser
import ExampleSupport
import FoundationEssentials
import Linnet
import LinnetTesting

/// The message of an error with advice, on one line, and the exit code of the process.
struct ErrorLine {
    let text: String
    /// 64 for a usage error, 1 for all other errors.
    let exitCode: Int32

    init(_ error: any Error) {
        exitCode = error is UsageError ? ExitCode.validationFailure.rawValue : 1
        text = OneLine.text("ExampleApp: " + Self.message(error))
    }

    private static func message(_ error: any Error) -> String {
        switch error {
        case let error as UsageError: error.message
        case let error as SessionError: message(error)
        case let error as TestingError: "The embedded server could not be started: \(error.message) Use --url instead."
        default: "\(error)"
        }
    }

    private static func message(_ error: SessionError) -> String {
        let place = error.url.map { $0.absoluteString } ?? "the server"
        return switch error.code {
        case .trustRefused: error.message + " " + advice(error)
        case .connectionFailed, .nameResolutionFailed:
            sentence(error.message) + " Check the name and the port in --url, and that the server is running."
        case .timeout: "\(place): \(error.message) Try again, or check the load of the server."
        case .connectionLost: "\(place): \(error.message) Try again."
        case .tlsFailed:
            "\(error.message) Check that --url is an HTTPS URL and that the server supports TLS 1.2 or 1.3."
        case .unacceptableStatus: status(error, place)
        case .unacceptableContentType:
            "The response of \(place) is not JSON: \(sentence(error.message)) Check that --url is the timeline's base URL."
        case .decodingFailed:
            "The response of \(place) is not a timeline: \(sentence(DecodingReason.text(error))) "
                + "Check that --url is the timeline's base URL."
        default: "\(place): \(error.message)"
        }
    }

    /// The message with a full stop, which messages of the system lack.
    private static func sentence(_ message: String) -> String { message.hasSuffix(".") ? message : message + "." }

    private static func advice(_ error: SessionError) -> String {
        error.trustRefusal?.advice(anchorsOption: "in SSL_CERT_FILE") ?? "Nothing was sent."
    }

    private static func status(_ error: SessionError, _ place: String) -> String {
        let code = error.head?.status.code ?? 0
        let advice =
            code >= 500
            ? "The server failed: try again later, or check its log."
            : "Check that --url is the timeline's base URL."
        return "\(place) responded with status \(code). \(advice)"
    }
}
