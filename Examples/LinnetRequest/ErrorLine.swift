import ArgumentParser
import ExampleSupport
import Linnet

/// What went wrong and what to do, in one line, and how the process shall end.
struct ErrorLine {
    let text: String
    /// 64 for a wrong command line, 1 for the rest.
    let exitCode: Int32

    init(_ error: any Error) {
        exitCode = error is UsageError ? ExitCode.validationFailure.rawValue : 1
        text = OneLine.text("linnet-request: " + Self.message(error))
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
            case .trustRefused: error.trustRefusal?.advice(anchorsOption: "as --cacert") ?? "Nothing was sent."
            case .connectionFailed, .nameResolutionFailed: "Check the URL's host and port, and that the server runs."
            case .timeout: "Try again, or give a longer --timeout."
            case .tlsFailed: "Check that the port speaks HTTPS, with TLS 1.2 or 1.3."
            default: ""
            }
        let message = error.message.hasSuffix(".") ? error.message : error.message + "."
        return ("\(error.code): \(message)" + (advice.isEmpty ? "" : " " + advice))
    }
}
