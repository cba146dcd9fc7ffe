#include "CBench.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>

static inline double clamp(double x, double least, double greatest) {
  x = x < least ? least : x;
  return x > greatest ? greatest : x;
}

static double begin_or_reject(struct bench_pid *pid, double setpoint, double measurement, double feed_forward);

static inline double step(struct bench_pid *pid, double setpoint, double measurement, double feed_forward) {
  double slope = pid->slope_decay * pid->slope + pid->slope_gain * (measurement - pid->last_measurement);
  double wanted = pid->proportional * (pid->setpoint_weight * setpoint - measurement) - pid->derivative * slope +
                  feed_forward + pid->integral;
  double given = clamp(wanted, pid->minimum, pid->maximum);
  double growth = pid->integral_gain * (setpoint - measurement);
  double excess = wanted - given;
  double integral = pid->integral;
  if (pid->tracking_gain == 0) {
    bool is_winding_up = excess * growth > 0;
    integral += is_winding_up ? 0 : growth;
  } else {
    integral += growth - pid->tracking_gain * excess;
  }
  if (!isfinite(wanted + integral)) return begin_or_reject(pid, setpoint, measurement, feed_forward);
  pid->integral = integral;
  pid->slope = slope;
  pid->last_setpoint = setpoint;
  pid->last_measurement = measurement;
  pid->rejected = 0;
  return pid->output = given;
}

__attribute__((noinline)) static double begin_or_reject(
    struct bench_pid *pid, double setpoint, double measurement, double feed_forward) {
  if (isnan(pid->last_measurement) && isfinite(measurement)) {
    struct bench_pid begun = *pid;
    begun.last_measurement = measurement;
    begun.rejected = 0;
    double output = step(&begun, setpoint, measurement, feed_forward);
    if (begun.rejected == 0) {
      *pid = begun;
      return output;
    }
  }
  if (pid->rejected < UINT_MAX) pid->rejected++;
  return pid->output;
}

static inline double toolbox_step(struct bench_toolbox_pid *pid, double error, double dt) {
  if (fabs(dt) <= FLT_EPSILON) return pid->command;
  if (!isfinite(error)) return pid->command = NAN;
  double error_dot = (error - pid->last_error) / dt;
  pid->last_error = error;
  if (!isfinite(error_dot)) return pid->command = NAN;
  double unlimited = pid->p_gain * error + pid->i_term + pid->d_gain * error_dot;
  pid->command = clamp(unlimited, pid->u_min, pid->u_max);
  pid->i_term += dt * (pid->i_gain * error + 1 / pid->tracking_time * (pid->command - unlimited));
  return pid->command;
}

void bench_pid_all(
    struct bench_pid *controllers, const double *setpoints, const double *measurements, double *outputs, size_t count) {
  for (size_t i = 0; i < count; i++) outputs[i] = step(&controllers[i], setpoints[i], measurements[i], 0);
}

void bench_toolbox_pid_all(
    struct bench_toolbox_pid *controllers, const double *setpoints, const double *measurements, double *outputs,
    size_t count, double dt) {
  for (size_t i = 0; i < count; i++) outputs[i] = toolbox_step(&controllers[i], setpoints[i] - measurements[i], dt);
}

void bench_pid_run(
    struct bench_pid *controller, const double *setpoints, const double *measurements, double *outputs, size_t count) {
  for (size_t i = 0; i < count; i++) outputs[i] = step(controller, setpoints[i], measurements[i], 0);
}

void bench_toolbox_pid_run(
    struct bench_toolbox_pid *controller, const double *setpoints, const double *measurements, double *outputs,
    size_t count, double dt) {
  for (size_t i = 0; i < count; i++) outputs[i] = toolbox_step(controller, setpoints[i] - measurements[i], dt);
}
