internal import LinnetMessages

/// The version that the tools print for `--version`.
package enum ToolVersion {
    /// The version of the package.
    package static let text = LinnetVersion.current
}
