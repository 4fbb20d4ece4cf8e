import FoundationEssentials

@testable import ExampleApp

extension TimelineDrawing {
    /// A drawing of a state at the time of the samples.
    static func sample(
        _ state: TimelineState, width: Int = 80, height: Int = 24, hasColors: Bool = true,
        _ change: (inout TimelineView) -> Void = { _ in }
    ) -> TimelineDrawing {
        var view = TimelineView(size: TerminalSize(width: width, height: height))
        change(&view)
        let style = TextStyle(environment: hasColors ? [:] : ["NO_COLOR": "1"])
        return TimelineDrawing(state: state, view: view, style: style, now: SampleState.now)
    }

    /// The rows without styles and trailing spaces.
    var plainRows: [String] {
        rows.map { row in
            var line = row.replacing(/\u{1B}\[[0-9;]*m/, with: "")
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    var text: String { plainRows.joined(separator: "\n") }
}
