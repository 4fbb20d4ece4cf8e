import Testing

@testable import ExampleApp

@Suite(.timeLimit(.minutes(1)))
struct TextStyleTests {
    @Test(arguments: [([:], true), (["NO_COLOR": ""], true), (["NO_COLOR": "1"], false)])
    func theEnvironmentStatesWhetherThereAreColors(environment: [String: String], hasColors: Bool) {
        #expect(TextStyle(environment: environment).hasColors == hasColors)
    }

    @Test func aTextHasItsAttributeAndItsColors() {
        let style = TextStyle(environment: [:])
        #expect(style.text("x", .bold, color: 196, on: 16) == "\u{1B}[1;38;5;196;48;5;16mx\u{1B}[0m")
        #expect(style.text("x") == "x")
        let plain = TextStyle(environment: ["NO_COLOR": "1"])
        #expect(plain.text("x", .reversed, color: 196, on: 16) == "\u{1B}[7mx\u{1B}[0m")
        #expect(plain.text("x", color: 196) == "x")
    }

    @Test(arguments: [(0, 0, 0, 16), (255, 255, 255, 231), (95, 175, 255, 75), (130, 50, 210, 98), (255, 95, 95, 203)])
    func theNearestColorOfThePaletteIsUsed(red: UInt8, green: UInt8, blue: UInt8, place: Int) {
        #expect(TextStyle.color(red: red, green: green, blue: blue) == place)
    }
}
