import LinnetJSON

/// The manual page of `linnet` in the format of man(7), from the help that its parser has of itself.
struct ManualPage {
    private(set) var text = ""

    /// - Parameter help: The answer to `--experimental-dump-help`.
    init(_ help: JSONValue) {
        guard let command = help["command"] else { return }
        let name = command["commandName"]?.string ?? ""
        line(".TH \(name.uppercased()) 1")
        section("NAME")
        paragraph("\(name) - \(command["abstract"]?.string ?? "")")
        section("SYNOPSIS")
        for each in [command] + children(command) { synopsis(each, of: name) }
        section("DESCRIPTION")
        discussion(command)
        for each in children(command) { write(each, path: [name]) }
    }

    private func children(_ command: JSONValue) -> [JSONValue] {
        (command["subcommands"]?.array ?? []).filter { $0["commandName"]?.string != "help" }
    }

    private mutating func synopsis(_ command: JSONValue, of name: String) {
        let own = command["commandName"]?.string ?? ""
        line(".br")
        paragraph(own == name ? "\(name) [options] [method] url [item ...]" : "\(name) \(own) ...")
    }

    private mutating func write(_ command: JSONValue, path: [String]) {
        let path = path + [command["commandName"]?.string ?? ""]
        if path.count == 2 { section(path.joined(separator: " ").uppercased()) } else { subsection(path) }
        paragraph(command["abstract"]?.string ?? "")
        line(".PP")
        discussion(command)
        for argument in command["arguments"]?.array ?? [] where argument["shouldDisplay"]?.bool != false {
            write(argument: argument)
        }
        for each in children(command) { write(each, path: path) }
    }

    private mutating func write(argument: JSONValue) {
        let names = (argument["names"]?.array ?? []).compactMap(Self.option)
        guard names != ["-h", "--help"], names != ["--version"] else { return }
        let value = argument["valueName"]?.string ?? ""
        let isFlag = argument["kind"]?.string == "flag"
        let title = names.isEmpty ? value : names.joined(separator: ", ") + (isFlag ? "" : " " + value)
        line(".TP")
        line(".B " + Self.escape(title))
        let texts = [argument["abstract"], argument["discussion"]].compactMap { $0?.string }
        paragraph(texts.joined(separator: "\n"))
    }

    private static func option(_ name: JSONValue) -> String? {
        name["name"]?.string.map { (name["kind"]?.string == "long" ? "--" : "-") + $0 }
    }

    /// Text, and examples in lines that begin with spaces.
    private mutating func discussion(_ command: JSONValue) {
        var isExample = false
        for text in (command["discussion"]?.string ?? "").split(separator: "\n", omittingEmptySubsequences: false) {
            if text.hasPrefix("  ") != isExample {
                isExample.toggle()
                line(isExample ? ".nf" : ".fi")
            }
            if text.isEmpty { line(".PP") } else { paragraph(String(text)) }
        }
        if isExample { line(".fi") }
    }

    private mutating func section(_ title: String) { line(".SH " + Self.escape(title)) }

    private mutating func subsection(_ path: [String]) { line(".SS " + Self.escape(path.joined(separator: " "))) }

    private mutating func paragraph(_ text: String) {
        for part in text.split(separator: "\n") { line(Self.escape(String(part))) }
    }

    private mutating func line(_ text: String) { text.isEmpty ? () : (self.text += text + "\n") }

    /// Writes what the format gives a meaning to as it is.
    private static func escape(_ text: String) -> String {
        let plain = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return plain.hasPrefix(".") || plain.hasPrefix("'") ? "\\&" + plain : plain
    }
}
