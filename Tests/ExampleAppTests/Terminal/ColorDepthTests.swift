import Testing

@testable import ExampleApp

@Suite(.timeLimit(.minutes(1)))
struct ColorDepthTests {
    @Test(arguments: [
        (["TERM": "xterm-256color", "COLORTERM": "truecolor"], ColorDepth.trueColor),
        (["TERM": "tmux-256color"], .palette256),
        (["TERM": "xterm"], .ansi16),
        (["TERM": "xterm-kitty"], .trueColor),
        (["TERM": "xterm-direct"], .trueColor),
        (["TERM": "dumb", "COLORTERM": "truecolor"], .none),
        (["TERM": "vt100"], .none),
        ([:], .none),
        (["TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": "1"], .none),
        (["TERM": "xterm-256color", "NO_COLOR": ""], .palette256),
    ])
    func theEnvironmentStatesTheColors(environment: [String: String], depth: ColorDepth) {
        #expect(ColorDepth(environment: environment) == depth)
    }

    @Test(arguments: [
        (ColorDepth.trueColor, "\u{1B}[0;1;38;2;255;0;0;48;2;0;0;0m"), (.palette256, "\u{1B}[0;1;38;5;196;48;5;16m"),
        (.ansi16, "\u{1B}[0;1;91;40m"), (.none, "\u{1B}[0;1m"),
    ])
    func aStyleHasTheColorsOfTheTerminal(depth: ColorDepth, sequence: String) {
        let style = Style(foreground: Color(255, 0, 0), background: Color(0, 0, 0), isBold: true)
        #expect(depth.sequence(style) == sequence)
    }

    @Test(arguments: [
        (Color(0, 0, 0), 16), (Color(255, 255, 255), 231), (Color(128, 128, 128), 244), (Color(95, 175, 255), 75),
        (Color(8, 8, 8), 232),
    ])
    func theNearestColorOfThePaletteIsUsed(color: Color, index: Int) {
        #expect(color.paletteIndex == index)
    }
}
