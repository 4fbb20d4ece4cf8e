import ArgumentParser
import FoundationEssentials
import Linnet

/// What went wrong and what to do, in one line, and how the process shall end.
struct ErrorLine {
    let text: String
    /// 64 for a wrong command line, 1 for the rest.
    let exitCode: Int32

    init(_ error: any Error) {
        exitCode = error is UsageError ? ExitCode.validationFailure.rawValue : 1
        text = Self.oneLine("linnet-request: " + Self.message(error))
    }

    private static func message(_ error: any Error) -> String {
        switch error {
        case let error as UsageError: error.message
        case let error as SessionError: message(error)
        default: "\(error)"
        }
    }

    private static func message(_ error: SessionError) -> String {
        let advice =
            switch error.code {
            case .trustRefused: advice(error.trustRefusal)
            case .connectionFailed, .nameResolutionFailed: "Check the URL's host and port, and that the server runs."
            case .timeout: "Try again, or give a longer --timeout."
            case .tlsFailed: "Check that the port speaks HTTPS, with TLS 1.2 or 1.3."
            default: ""
            }
        let message = error.message.hasSuffix(".") ? error.message : error.message + "."
        return ("\(error.code): \(message)" + (advice.isEmpty ? "" : " " + advice))
    }

    private static func advice(_ refusal: TrustRefusal?) -> String {
        switch refusal?.reason {
        case .pinMismatch:
            "Nothing was sent. Give a seen pin as --pin only if you know from elsewhere that the key is the server's."
        case .unknownAuthority, .selfSigned:
            "Nothing was sent. Name a file with the server's authority as --cacert if you trust it."
        case .expired: "Nothing was sent. The server needs a new certificate; check this machine's clock, too."
        case .hostnameMismatch: "Nothing was sent. Use a host name that the certificate is for."
        default: "Nothing was sent."
        }
    }

    /// The text with a space for each control character and line break.
    private static func oneLine(_ text: String) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: line.append(" ")
            default: line.append(scalar)
            }
        }
        return String(line)
    }
}
