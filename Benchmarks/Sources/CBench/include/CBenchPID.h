// PID controllers in C, which Sources/tactus-bench/PIDBench.swift holds TactusControl's beside.
#pragma once
#include <stddef.h>

/// The difference equation of TactusControl's PID (filtered derivative of the measurement, setpoint weight, feed-forward, limits,
/// back-calculation or conditional integration, rejection of what is not finite, what a change of gains without a bump needs), as one
/// would write it in C.
struct bench_pid {
  double proportional, derivative, setpoint_weight, minimum, maximum;
  double integral_gain, slope_decay, slope_gain, tracking_gain;  // tracking gain 0: conditional
  double integral, slope, output, last_setpoint, last_measurement;  // the last one NaN before the first step
  unsigned rejected;
};

/// The algorithm of ros2 control_toolbox's Pid::compute_command with back-calculation: derivative of the error by a division,
/// limits, NaN for an error that is not finite. Without its box for gains, which another thread may change, and without its log.
struct bench_toolbox_pid {
  double p_gain, i_gain, d_gain, u_max, u_min, tracking_time;
  double i_term, last_error, command;
};

/// One step of each of `count` controllers: the tick of a robot with so many joints.
BENCH_REALTIME void bench_pid_all(
    struct bench_pid *controllers, const double *setpoints, const double *measurements, double *outputs, size_t count);
BENCH_REALTIME void bench_toolbox_pid_all(
    struct bench_toolbox_pid *controllers, const double *setpoints, const double *measurements, double *outputs,
    size_t count, double dt);

/// `count` steps of one controller.
BENCH_REALTIME void bench_pid_run(
    struct bench_pid *controller, const double *setpoints, const double *measurements, double *outputs, size_t count);
BENCH_REALTIME void bench_toolbox_pid_run(
    struct bench_toolbox_pid *controller, const double *setpoints, const double *measurements, double *outputs,
    size_t count, double dt);
