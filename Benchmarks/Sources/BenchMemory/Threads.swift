/// The threads of this process by their numbers.
package enum Threads {
    /// Returns the names of those that run now.
    package static func all() -> [String: String] {
        var names: [String: String] = [:]
        for number in Proc.entries(of: "/proc/self/task") {
            names[number] = Proc.lines(of: "/proc/self/task/\(number)/comm").first
        }
        return names
    }
}
