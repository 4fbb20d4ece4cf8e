internal import LinnetMessages

/// A location in a policy file as messages begin with it: `policy.json:12: rules[0].pins[1]: `.
package struct PolicyPlace {
    let file: String?
    let line: Int?
    let path: String?

    package init(file: String? = nil, line: Int?, path: String?) {
        self.file = file
        self.line = line
        self.path = path
    }

    package var prefix: String {
        let lineText = line.map { ":\($0)" } ?? ""
        let place = file.map { $0.oneLine + lineText + ": " } ?? line.map { "line \($0): " } ?? ""
        return place + (path.flatMap { $0.isEmpty ? nil : $0 + ": " } ?? "")
    }
}
