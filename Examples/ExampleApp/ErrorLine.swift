import ArgumentParser
import ExampleSupport
import FoundationEssentials
import Linnet
import LinnetTesting

/// What went wrong and what to do, in one line, and how the process shall end.
struct ErrorLine {
    let text: String
    /// 64 for a wrong command line, 1 for the rest.
    let exitCode: Int32

    init(_ error: any Error) {
        exitCode = error is UsageError ? ExitCode.validationFailure.rawValue : 1
        text = OneLine.text("ExampleApp: " + Self.message(error))
    }

    private static func message(_ error: any Error) -> String {
        switch error {
        case let error as UsageError: error.message
        case let error as SessionError: message(error)
        case let error as TestingError: "The embedded server does not start: \(error.message) Try --url instead."
        default: "\(error)"
        }
    }

    private static func message(_ error: SessionError) -> String {
        let place = error.url.map { $0.absoluteString } ?? "the server"
        return switch error.code {
        case .trustRefused: error.message + " " + advice(error)
        case .connectionFailed, .nameResolutionFailed:
            sentence(error.message) + " Check the name and the port in --url, and that the server runs."
        case .timeout: "\(place): \(error.message) Try again, or check that the server is not overloaded."
        case .connectionLost: "\(place): \(error.message) Try again."
        case .tlsFailed: "\(error.message) Check that --url names an HTTPS port, and that it offers TLS 1.2 or 1.3."
        case .unacceptableStatus: status(error, place)
        case .unacceptableContentType:
            "\(place) sent no JSON: \(error.message). Check that --url is the timeline's base URL."
        case .decodingFailed:
            "\(place) sent JSON that is no timeline: \(DecodingReason.text(error)). "
                + "Check that --url is the timeline's base URL."
        default: "\(place): \(error.message)"
        }
    }

    /// The message with its full stop, which the messages of the system do without.
    private static func sentence(_ message: String) -> String { message.hasSuffix(".") ? message : message + "." }

    private static func advice(_ error: SessionError) -> String {
        error.trustRefusal?.advice(anchorsOption: "in SSL_CERT_FILE") ?? "Nothing was sent."
    }

    private static func status(_ error: SessionError, _ place: String) -> String {
        let code = error.head?.status.code ?? 0
        let advice =
            code >= 500
            ? "The server failed: try again later, or look into its log."
            : "Check that --url is the timeline's base URL."
        return "\(place) answered with status \(code). \(advice)"
    }
}
