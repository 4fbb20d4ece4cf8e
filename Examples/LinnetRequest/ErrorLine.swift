import ArgumentParser
import ExampleSupport
import Linnet
import LinnetOAuth

/// The message of an error with advice, on one line, and the exit code of the process.
struct ErrorLine {
    let text: String
    /// 64 for a usage error, 1 for all other errors.
    let exitCode: Int32

    init(_ error: any Error) {
        exitCode = error is UsageError ? ExitCode.validationFailure.rawValue : 1
        text = OneLine.text("linnet-request: " + Self.message(error))
    }

    private static func message(_ error: any Error) -> String {
        switch error {
        case let error as UsageError: error.message
        case let error as SessionError: message(error)
        case let error as OAuthError: message(error)
        default: "\(error)"
        }
    }

    private static func message(_ error: OAuthError) -> String {
        let advice =
            switch error.code {
            case .invalidGrant, .loginRequired: "Remove the token file to log in again: \(error.message)"
            default: error.message
            }
        return "\(error.code): \(advice)"
    }

    private static func message(_ error: SessionError) -> String {
        if let error = error.underlying as? OAuthError { return message(error) }
        let advice =
            switch error.code {
            case .trustRefused: error.trustRefusal?.advice(anchorsOption: "as --cacert") ?? "Nothing was sent."
            case .connectionFailed, .nameResolutionFailed:
                "Check the host and port of the URL, and that the server is running."
            case .timeout: "Try again, or specify a longer --timeout."
            case .tlsFailed: "Check that the port uses HTTPS with TLS 1.2 or 1.3."
            default: ""
            }
        let message = error.message.hasSuffix(".") ? error.message : error.message + "."
        return ("\(error.code): \(message)" + (advice.isEmpty ? "" : " " + advice))
    }
}
