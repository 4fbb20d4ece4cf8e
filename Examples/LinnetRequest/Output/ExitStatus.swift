import ArgumentParser
import ExampleSupport
import Linnet
import LinnetWebSocket

/// The exit codes of failures: the ones of curl where it has one.
enum ExitStatus {
    private static let codes: [SessionError.Code: Int32] = [
        .nameResolutionFailed: 6, .connectionFailed: 7, .fileFailed: 23, .timeout: 28, .tlsFailed: 35,
        .unacceptableStatus: 22, .clientCertificateRequired: 58, .clientCertificateRefused: 58, .tooManyRedirects: 47,
        .connectionLost: 52, .trustRefused: 60,
    ]

    static func of(_ error: any Error) -> Int32 {
        switch error {
        case is UsageError: ExitCode.validationFailure.rawValue
        case let error as SessionError: codes[error.code] ?? 1
        case let error as WebSocketError: error.underlying.map(of) ?? 1
        case is StandardStream.WriteError, is FileFailure: 23
        default: 1
        }
    }
}
