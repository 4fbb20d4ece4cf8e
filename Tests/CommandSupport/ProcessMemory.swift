internal import FoundationEssentials
internal import Testing

/// A figure of this process's memory in bytes, such as `VmRSS` or `VmHWM` (proc_pid_status(5)).
public func processMemory(_ field: String) throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(field + ":") })
    return try #require(Int(line.filter(\.isNumber))) * 1024
}
