import FoundationEssentials

/// The colors of a terminal, or none.
struct Colors: Equatable {
    enum Role: String {
        case name = "36"
        case text = "32"
        case number = "33"
        case word = "35"
        case mark = "2"
    }

    let areOn: Bool

    static let off = Colors(areOn: false)

    /// The colors of the environment: NO_COLOR and a dumb terminal turn them off.
    static var ofEnvironment: Colors {
        let environment = ProcessInfo.processInfo.environment
        return Colors(areOn: environment["NO_COLOR"]?.isEmpty != false && environment["TERM"] != "dumb")
    }

    func paint(_ text: some StringProtocol, _ role: Role) -> String {
        areOn && !text.isEmpty ? "\u{1B}[\(role.rawValue)m\(text)\u{1B}[0m" : String(text)
    }
}
