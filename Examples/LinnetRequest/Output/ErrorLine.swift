import ExampleSupport
import Linnet
import LinnetBackground
import LinnetHAR
import LinnetOAuth
import LinnetWebSocket

/// The message of an error with advice, on one line, and the exit code of the process.
struct ErrorLine {
    let text: String
    let exitCode: Int32

    /// - Parameter tokenFile: The path of the token; nil without a login.
    init(_ error: any Error, tokenFile: String?) {
        exitCode = ExitStatus.of(error)
        let program = ProgramName.isProgram(of: "request") ? ProgramName.current : "linnet"
        text = OneLine.text("\(program): " + Self.message(error, tokenFile))
    }

    private static func message(_ error: any Error, _ tokenFile: String?) -> String {
        switch error {
        case let error as UsageError: error.message
        case let error as SessionError: message(error, tokenFile)
        case let error as OAuthError: message(error, tokenFile)
        case let error as WebSocketError: message(error, tokenFile)
        case let error as BackgroundError: "\(error.code): \(error.message)"
        case let error as CacheError: "\(error.code): \(error.message)"
        case let error as HARError: "\(error.code): \(error.message)"
        default: "\(error)"
        }
    }

    private static func message(_ error: WebSocketError, _ tokenFile: String?) -> String {
        if let error = error.underlying as? SessionError { return message(error, tokenFile) }
        return "\(error.code): \(error.message)"
    }

    private static func message(_ error: OAuthError, _ tokenFile: String?) -> String {
        let advice =
            switch error.code {
            case .invalidGrant, .loginRequired:
                "Remove the token file \(tokenFile ?? "") to log in again: \(error.message)"
            default: error.message
            }
        return "\(error.code): \(advice)"
    }

    private static func message(_ error: SessionError, _ tokenFile: String?) -> String {
        if let error = error.underlying as? OAuthError { return message(error, tokenFile) }
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
