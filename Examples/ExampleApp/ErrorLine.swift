import ExampleSupport
import Linnet

/// The explanation of an error, on one line.
enum ErrorLine {
    static func text(_ error: SessionError) -> String { OneLine.text("ExampleApp: \(error.explanation)") }
}
